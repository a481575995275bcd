import type { Worker } from "node:worker_threads"
import type { Clock } from "../../domain/clock.ts"
import { commandLine, type Machine, type Platform, type ResumeCommand } from "../../domain/platform.ts"
import type { Session } from "../../domain/session.ts"
import type { SourceSummary } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import type { ProjectFinder } from "../projects.ts"
import { makeArchive } from "./archive.ts"
import { type Capturing, type CapturingDeps, makeCapturing } from "./capturing.ts"
import { type HookSettings, type Intake, makeIntake } from "./intake.ts"
import { makeOwnRecords, type OwnRecords } from "./own-records.ts"
import { makePush, type Push } from "./push.ts"
import { makeReaderThread } from "./reader-thread.ts"
import { type CaptureSettings, makeRules } from "./rules.ts"

/** Capture's own door: conversations come in here, whoever brings them. */
export interface CaptureRoom {
  platforms: readonly Platform[]
  capturing: Capturing
  push: Push
  intake: Intake
  ownRecords: OwnRecords
  sources(): Promise<SourceSummary[]>
  /** Something was forgotten: what is remembered of sessions is no longer true. */
  forgotten(): void
  byNative(platform: string, nativeId: string): Promise<Session | undefined>
  /** Of whichever platform: such ids are unique among them as well. */
  byNativeId(nativeId: string): Promise<Session | undefined>
  /** How the session's own agent goes on with it; undefined where it cannot. */
  resuming(session: Session): ResumeCommand | undefined
  /** What a person types to go on with a session in its own agent. */
  resumeCommand(session: Session): string | undefined
}

export interface CaptureDeps extends Pick<CapturingDeps, "watch" | "onTrouble"> {
  store: Store
  clock: Clock
  projects: ProjectFinder
  platforms: readonly Platform[]
  machine: Machine
  settings: CaptureSettings
  hooks: HookSettings
  /** Starts the thread that reads, if it is not to be this one; it runs `serveReading`. */
  startReader?(): Worker
  /** Told when that thread has had nothing to read for a while. */
  onRest?(): void
}

export function makeCapture(deps: CaptureDeps): CaptureRoom {
  const rules = makeRules({ ...deps, homeDir: deps.machine.homeDir, capture: deps.settings })
  const archive = makeArchive({ ...deps, rules })
  const { startReader, onRest, onTrouble } = deps
  const reading =
    startReader &&
    makeReaderThread({
      start: startReader,
      archive,
      onRest() {
        archive.reset()
        onRest?.()
      },
      onTrouble: (error) => onTrouble({ platform: "-", path: "the reading thread" }, error),
    })
  const resuming = ({ platform, nativeId, projectPath, isSubagent }: Session) =>
    isSubagent ? undefined : deps.platforms.find(({ id }) => id === platform)?.resume?.({ nativeId, projectPath })
  const capturing = makeCapturing({ ...deps, archive, reading })
  return {
    platforms: deps.platforms,
    capturing,
    push: makePush({ ...deps, rules, capturing }),
    intake: makeIntake({ ...deps, ...deps.hooks, rules, capturing }),
    ownRecords: makeOwnRecords(deps),
    sources: () => deps.store.sources.summaries(),
    forgotten: () => archive.reset(),
    byNative: (platform, nativeId) => deps.store.sessions.byNative(platform, nativeId),
    async byNativeId(nativeId) {
      for (const { id } of deps.platforms) {
        const found = await deps.store.sessions.byNative(id, nativeId)
        if (found) return found
      }
      return undefined
    },
    resuming,
    resumeCommand(session) {
      const command = resuming(session)
      return command && commandLine(command)
    },
  }
}
