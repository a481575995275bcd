import type { Worker } from "node:worker_threads"
import type { Caller, Clients } from "../domain/caller.ts"
import type { ArchiveRules } from "../domain/capture.ts"
import { scopedId, withoutScope } from "../domain/ids.ts"
import type { JournalConsumer } from "../domain/journal.ts"
import { commandLine, type Machine, type Platform, type ResumeCommand } from "../domain/platform.ts"
import type { ProjectFinder } from "../domain/project.ts"
import type { Session } from "../domain/session.ts"
import type { SourceSummary } from "../domain/source.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "../lib/clock.ts"
import { makeOwnRecords, type OwnRecords } from "./read/own-records.ts"
import { makeReaderThread } from "./read/reader-thread.ts"
import { twinsConsumer } from "./read/twins.ts"
import { unrecognisedFiles } from "./read/unrecognised.ts"
import { makeArchive } from "./store/archive.ts"
import { type Capturing, type CapturingDeps, makeCapturing } from "./store/capturing.ts"
import { type HookIntake, type HookSettings, makeIntake } from "./store/intake.ts"
import { makeOrigins, type SourceOrigins } from "./store/origins.ts"
import { makePlacing } from "./store/placement.ts"
import { makePush, type Push } from "./store/push.ts"
import { type Folders, type FoldersDeps, makeFolders } from "./watch/folders.ts"
import { type CaptureSettings, makeRules } from "./watch/rules.ts"

export interface CaptureModule {
  platforms: readonly Platform[]
  capturing: Capturing
  push: Push
  intake: HookIntake
  ownRecords: OwnRecords
  origins: SourceOrigins
  /** What may be stored, and how it is redacted. */
  rules: ArchiveRules
  /** Learns callers' folders, so that a log in a folder without sessions is found. */
  folders: Pick<Folders, "met" | "follow">
  sources(): Promise<SourceSummary[]>
  /** A few files in the platform's folders that its adapter does not recognise. */
  unrecognised(platform: string): string[]
  consumers: JournalConsumer[]
  /** After a forget: drops cached sessions. */
  forgotten(): void
  /** The calling agent, by its session or else by its client name. */
  platformOf(caller: Caller): Promise<string | undefined>
  byNative(platform: string, nativeId: string): Promise<Session | undefined>
  /** Of any platform: native ids are unique across platforms. Ids from a project's own files need its root. */
  byNativeId(nativeId: string, rootUri?: string): Promise<Session | undefined>
  /** Sessions logged under this id; ids are per project, so there may be several. */
  byLoggedId(nativeId: string): Promise<Session[]>
  /** The id under which agents logged it; undefined if it is no log. */
  loggedId(session: Session): string | undefined
  /** How the session's own agent resumes it; undefined if it cannot. */
  resuming(session: Session): ResumeCommand | undefined
  /** What a person types to resume a session in its own agent. */
  resumeCommand(session: Session): string | undefined
}

export interface CaptureDeps
  extends Pick<CapturingDeps, "watch" | "onTrouble">,
    Pick<FoldersDeps, "configured" | "teamDirs"> {
  store: Store
  clock: Clock
  clients: Clients
  projects: ProjectFinder
  platforms: readonly Platform[]
  machine: Machine
  settings: CaptureSettings
  hooks: HookSettings
  tempDir: string
  /** Starts a reader thread that runs `serveReading`; without it, sources are read in this thread. */
  startReader?(): Worker
  /** Called when the reader thread has been idle for a while. */
  onRest?(): void
}

export function makeCapture(deps: CaptureDeps): CaptureModule {
  const place = makePlacing(deps)
  const { homeDir } = deps.machine
  const basic = makeRules({ ...deps, homeDir, capture: deps.settings })
  const folders = makeFolders({ ...deps, homeDir, host: deps.hooks.host, excluded: basic.excluded })
  const rules: ArchiveRules = {
    ...basic,
    place,
    async projectOf(path) {
      const project = await basic.projectOf(path)
      if (project) folders.add(project)
      return project
    },
  }
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
    isSubagent
      ? undefined
      : deps.platforms.find(({ id }) => id === platform)?.resume?.({ nativeId: withoutScope(nativeId), projectPath })
  const logs = deps.platforms.filter(({ can }) => can.logs)
  const origins = makeOrigins({ ...deps, place })
  const following = makeCapturing({ ...deps, archive, reading, folders })
  const capturing: Capturing = {
    ...following,
    async run(signal) {
      // Every known source needs its origin before anything is read.
      await origins.reconcile(signal)
      await following.run(signal)
    },
  }
  const platformOf: CaptureModule["platformOf"] = async ({ nativeSession, client }) => {
    if (deps.platforms.some(({ id }) => id === nativeSession?.platform)) return nativeSession!.platform
    const [first, ...others] = deps.clients.platformsOf(client?.name)
    if (others.length === 0) return first
    // Products of one vendor share a client name: prefer the one that has sources on this machine.
    const found = (await deps.store.sources.summaries()).filter(({ sources }) => sources > 0)
    return [first, ...others].find((id) => found.some(({ platform }) => platform === id)) ?? first
  }
  return {
    platforms: deps.platforms,
    platformOf,
    capturing,
    rules: basic,
    push: makePush({ ...deps, rules, capturing, archive, platformOf }),
    origins,
    folders,
    intake: makeIntake({ ...deps, ...deps.hooks, rules, capturing }),
    ownRecords: makeOwnRecords(deps),
    sources: () => deps.store.sources.summaries(),
    unrecognised(id) {
      const platform = deps.platforms.find((one) => one.id === id)
      return platform ? unrecognisedFiles(platform, deps.machine) : []
    },
    consumers: [twinsConsumer({ onDropped: archive.reset, nowMs: deps.clock.nowMs })],
    forgotten: () => archive.reset(),
    byNative: (platform, nativeId) => deps.store.sessions.byNative(platform, nativeId),
    async byNativeId(nativeId, rootUri) {
      const scoped = (by: "agent" | "repository") => (rootUri === undefined ? [] : [scopedId(nativeId, rootUri, by)])
      for (const named of [...scoped("agent"), nativeId, ...scoped("repository")])
        for (const { id } of deps.platforms) {
          const found = await deps.store.sessions.byNative(id, named)
          if (found) return found
        }
      return undefined
    },
    async byLoggedId(nativeId) {
      const found = await Promise.all(logs.map(({ id }) => deps.store.sessions.logged(id, nativeId)))
      return found.flat()
    },
    loggedId: ({ platform, nativeId }) => (logs.some(({ id }) => id === platform) ? withoutScope(nativeId) : undefined),
    resuming,
    resumeCommand(session) {
      const command = resuming(session)
      return command && commandLine(command)
    },
  }
}
