/** What operations run on; the daemon builds it once. */
import type { CaptureModule } from "../capture/module.ts"
import type { BotState } from "../domain/channel-store.ts"
import type { LiveSessions } from "../domain/live.ts"
import type { Supervisor } from "../live/supervisor/supervisor.ts"
import type { UpdatesModule } from "../live/updates/pull.ts"
import type { BotModule } from "../messenger/module.ts"
import type { Permits } from "../permissions/permits.ts"
import type { ReachModule } from "../queue/module.ts"
import type { HandoffModule } from "../search/handoff/module.ts"
import type { RecallModule } from "../search/module.ts"
import type { SessionsModule } from "../sessions/module.ts"
import type { Tasks } from "../sessions/task-state.ts"
import type { AnalyticsReports } from "../teams/analytics.ts"
import type { TeamsModule } from "../teams/module.ts"
export interface Services {
  sessions: SessionsModule
  capture: CaptureModule
  recall: RecallModule
  handoff: HandoffModule
  reach: ReachModule
  live: Pick<LiveSessions, "all">
  tasks: Tasks
  updates: UpdatesModule
  teams: TeamsModule
  supervisor: Supervisor
  permits: Permits
  analytics: AnalyticsReports
  telegram: BotModule
  system: SystemService
  /** Keeps who used the owner's rights, and for what. */
  audit(entry: { who: string; what: string; data: Record<string, unknown> }): Promise<void>
}

export interface SystemService {
  status(): Promise<SystemStatus>
  /** What is wrong, and how to mend it. */
  examine(): Promise<{ findings: SystemFinding[]; verdict: string }>
  config: ConfigService
  /** Where the dashboard is, and what signs a page in for as long as this daemon runs. Throws where HTTP is off. */
  dashboard(): { url: string; key: string }
}

export interface SystemFinding {
  check: string
  state: "good" | "warning" | "wrong"
  detail: string
  remedy?: string
}

export interface ConfigService {
  file: string
  show(): { key: string; value: unknown; source: string; secret: boolean; description: string }[]
  /** Writes it into the file; undefined takes it out. Rejects, and changes nothing, where a start would refuse it. */
  set(key: string, text: string | undefined): Promise<ConfigUndo | undefined>
}

/** What the file held before; without a value it held none. */
export interface ConfigUndo {
  value?: unknown
}

export interface SystemStatus {
  id: string
  version: string
  pid: number
  startedAt: string
  home: string
  socket: string
  http: { url?: string; trouble?: string }
  memoryMb: number
  store: {
    kind: string
    place: string
    version: string
    sizeBytes: number
    sessions: number
    thoughts: number
    journal: number
    /** Why it does not answer; the figures are not known then. */
    trouble?: string | undefined
  }
  search: {
    place: string
    /** Turns and thoughts that can be found. */
    documents?: number | undefined
    /** Entries of the journal that it has not taken yet. */
    behind?: number | undefined
    /** Why it is being rebuilt, while it is. */
    rebuilding?: string | undefined
    /** Why it does not work. */
    trouble?: string | undefined
  }
  followers: { name: string; lag: number }[]
  /** Absent where there is no bot. */
  telegram?: { id: string; state: BotState | "new"; why?: string | undefined; since?: string | undefined } | undefined
  /** Everything that runs in the background for as long as the daemon does. */
  loops: {
    name: string
    state: "running" | "restarting" | "stalled"
    restarts: number
    since?: string | undefined
    error?: string | undefined
  }[]
  /** Errors that nobody caught. */
  bugs: { count: number; last?: { at: string; message: string } | undefined }
  notices: string[]
}
