/** The modules that operations call; the daemon builds them once. */
import type { CaptureModule } from "../capture/module.ts"
import type { LiveSessions } from "../domain/live.ts"
import type { Supervisor } from "../live/supervisor/supervisor.ts"
import type { UpdatesModule } from "../live/updates/pull.ts"
import type { BotModule } from "../messenger/module.ts"
import type { Permits } from "../permissions/permits.ts"
import type { QueueModule } from "../queue/module.ts"
import type { HandoffModule } from "../search/handoff/module.ts"
import type { SearchModule } from "../search/module.ts"
import type { SessionsModule } from "../sessions/module.ts"
import type { Tasks } from "../sessions/task-state.ts"
import type { AnalyticsReports } from "../teams/analytics.ts"
import type { TeamsModule } from "../teams/module.ts"
import type { SystemFinding, SystemStatus } from "./system.ts"

export interface Services {
  sessions: SessionsModule
  capture: CaptureModule
  recall: SearchModule
  handoff: HandoffModule
  reach: QueueModule
  live: Pick<LiveSessions, "all">
  tasks: Tasks
  updates: UpdatesModule
  teams: TeamsModule
  supervisor: Supervisor
  permits: Permits
  analytics: AnalyticsReports
  telegram: BotModule
  system: SystemService
  /** Records who used the owner's rights, and for what. */
  audit(entry: { who: string; what: string; data: Record<string, unknown> }): Promise<void>
}

export interface SystemService {
  status(): Promise<SystemStatus>
  /** The checks of `throughline doctor`. */
  examine(): Promise<{ findings: SystemFinding[]; verdict: string }>
  config: ConfigService
  /** Its URL, and the key that signs a page in until this daemon stops. Throws if HTTP is off. */
  dashboard(): { url: string; key: string }
}

export interface ConfigService {
  file: string
  show(): { key: string; value: unknown; source: string; secret: boolean; description: string }[]
  /** Saves it to the file; undefined removes it. Rejects, and changes nothing, if a start would refuse it. */
  set(key: string, text: string | undefined): Promise<ConfigUndo | undefined>
}

/** The value in the file before; none if it is absent. */
export interface ConfigUndo {
  value?: unknown
}
