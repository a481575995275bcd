import type { Caller, Clients } from "../domain/caller.ts"
import type { DriveOptions, Driver, PermissionAnswer, PermissionRequest } from "../domain/driver.ts"
import { type IfOpen, MAIN_THREAD, type Pair } from "../domain/pair.ts"
import type { Machine } from "../domain/platform.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "../lib/clock.ts"
import { superviseLoop } from "../lib/supervised-loop.ts"
import { makeAsking } from "./asking.ts"
import { type AskState, type Asks, makeAsks } from "./asks.ts"
import { makeCallers } from "./callers.ts"
import { makeAnswerStream, makeChangeSignal } from "./change-signal.ts"
import { type ControlCommand, type Controlled, makeControl } from "./control.ts"
import { makeNotices, type Notices, type TeamNotice } from "./notices.ts"
import { makeOpenSessionDelivery, type OpenSessionDeps } from "./open-session.ts"
import { makeOrphanedSessions, type OrphanedSessions, type OrphanedSessionsDeps } from "./orphaned-sessions.ts"
import { makePairing, type PairSessionsDeps } from "./pairs.ts"
import { makePool } from "./pool.ts"
import { prestart } from "./prestart.ts"
import { makeRecovery } from "./recovery.ts"
import type { ReloadingRoster } from "./roster.ts"
import { makeRosterModule, type RosterModule, type TeamsFile } from "./roster-module.ts"
import { makeStatus, type TeamsState } from "./status.ts"

/** What other modules may use of teams: the roster, and questions between teams. */
export interface TeamsModule extends RosterModule {
  notices: Pick<Notices, "unread" | "byId" | "dismiss">
  /** Its state once it is answered, or after the timeout; 0 does not wait. */
  ask(caller: Caller, options: AskedOf): Promise<AskState>
  /** Stores a notice for the team's next session. */
  notify(
    caller: Caller,
    options: { team: string; text: string; fromTeam?: string | undefined; ttlMs: number },
  ): Promise<{
    messageId: string
    expiresAtMs: number
  }>
  message(id: string): Promise<AskState>
  follow: Asks["follow"]
  status(team?: string): Promise<TeamsState>
  /** Runs the work with the pair's process ended and no question sent to it. Refused while it is busy. */
  whileAsleep(pair: Pair, work: () => Promise<void>): Promise<void>
  orphanedSessions: OrphanedSessions
  control(
    caller: Caller,
    options: Omit<ControlCommand, "fromTeam"> & { fromTeam?: string | undefined },
  ): Promise<Controlled>
  /** Pending notices for a starting session of the team; none for a pair's session. */
  startNotices(team: string, nativeSession: string | undefined): Promise<TeamNotice[]>
  /** Pending notices for an agent of the team that asks for them. */
  pull(team: string): Promise<TeamNotice[]>
  /** Answers all waiting callers with the current state, so that the socket can be closed. */
  endWaiting(): void
  run(signal: AbortSignal): Promise<void>
}

export interface AskedOf {
  team: string
  text: string
  /** The caller's names of the parameters, for errors. */
  names: { team: string; text: string }
  fromTeam?: string | undefined
  threadId?: string | undefined
  ifOpen?: IfOpen | undefined
  timeoutMs: number
}

export interface TeamsSettings {
  maxProcesses: number
  idleTimeout: number
  healthCheckInterval: number
  prestart: number
  maxMessageBytes: number
}

export interface TeamsDeps
  extends Pick<PairSessionsDeps, "briefOf" | "whereIs">,
    Pick<OrphanedSessionsDeps, "sessionsIn" | "isInUse">,
    Pick<OpenSessionDeps, "sendTo" | "takeBack" | "isIdle"> {
  store: Store
  clock: Clock
  roster: ReloadingRoster
  clients: Clients
  file: TeamsFile
  drivers: readonly Driver[]
  machine: Machine
  settings: TeamsSettings
  host: string
  /** Host and data directory. Leases held under it by an earlier daemon are dead. */
  home: string
  /** Our MCP server for the pair's agent. It identifies the agent when that asks in turn. */
  mcp(pair: Pair): DriveOptions["mcp"]
  permit(request: PermissionRequest, context: PermitContext, signal: AbortSignal): Promise<PermissionAnswer>
  redact(text: string, projectDir: string): string
  isOpenElsewhere(platform: string, nativeId: string): Promise<boolean>
  readRecords(platform: string): Promise<boolean>
  processStart(pid: number): string | undefined
  onTrouble(error: unknown, what: string): void
}

/** The work for which an agent requests a permission. */
export interface PermitContext {
  pair: Pair
  team: string
  nativeId: string
  /** The question it is working on. */
  messageId: string | undefined
  /** Whether its driver supports it. */
  canUpdateInput: boolean
}

const SWEEP_MS = 1_000
/** The context at the start of a session has other parts too. */
const START_NOTICES_CHARS = 4_000
const PULL_CHARS = 400_000

export function makeTeams(deps: TeamsDeps): TeamsModule {
  const { store, roster, drivers, settings, host, home, onTrouble, processStart } = deps
  const changes = makeChangeSignal()
  const stream = makeAnswerStream(changes)
  const ownerPrefix = `pairs ${host} ${home} `
  const can = (platform: string) => drivers.find((driver) => driver.platform === platform)?.can
  const teamOf = (name: string) => roster.byName(name)
  const pairing = makePairing({ ...deps, teamOf, start: starterOf(deps, (pairId) => asking.atWork(pairId)) })
  const pool = makePool({
    ...deps,
    teamOf,
    isAlive: (pid) => processStart(pid) !== undefined,
    isShared: (platform) => can(platform)?.shared ?? false,
    open: (pair, team, options) => pairing.open(pair, team, options),
    onFree: () => asking.ring(),
  })
  const openSession = makeOpenSessionDelivery({ ...deps, onChanged: changes.signal })
  const recovery = makeRecovery({ ...deps, openSession, endProcess })
  const asking = makeAsking({
    ...{ ...deps, pool, recovery, openSession, stream, ownerPrefix },
    onChanged: changes.signal,
  })
  const hasOwnServer = (platform: string) => can(platform)?.ownServer ?? true
  const callers = makeCallers({ ...deps, asking, hasOwnServer })
  const asks = makeAsks({ ...deps, pairing, changes, stream, onQueued: asking.ring })
  const notices = makeNotices(deps)
  const control = makeControl({ store, roster, pairing, pool, asking })
  const status = makeStatus({ store, roster, pool })
  const orphanedSessions = makeOrphanedSessions({ ...deps, pairing, asking })

  return {
    notices,
    ...makeRosterModule(deps),
    async ask(caller, { team: name, text, names, fromTeam, threadId = MAIN_THREAD, ifOpen = "wait", timeoutMs }) {
      const team = callers.teamNamed(name, names.team)
      const asker = await callers.whoAsks(caller, fromTeam)
      callers.checkChain(asker, team.name)
      const isOwners = asker.isOwner && asker.team === null
      const from = { fromTeam: asker.team, sender: asker.name, chain: asker.chain, isOwners }
      const key = caller.idempotencyKey
      const id = await asks.put({ ...from, team, text, parameter: names.text, threadId, ifOpen, key })
      return asks.wait(id, timeoutMs, caller.onProgress)
    },
    async notify(caller, { team: name, text, fromTeam, ttlMs }) {
      const team = callers.teamNamed(name, "toTeam")
      const asker = await callers.whoAsks(caller, fromTeam)
      const from = { fromTeam: asker.team, sender: asker.name }
      return notices.put({ ...from, team, text, ttlMs, key: caller.idempotencyKey })
    },
    orphanedSessions,
    whileAsleep: (pair, work) =>
      asking.alone(pair, async () => {
        await pool.sleep(pair.id)
        await work()
      }),
    message: asks.state,
    follow: asks.follow,
    async status(team) {
      if (team !== undefined) callers.teamNamed(team, "team")
      return status(team)
    },
    async control(caller, { fromTeam, ...options }) {
      const asker = await callers.whoAsks(caller, fromTeam)
      return control(asker, { ...options, fromTeam: asker.team })
    },
    async startNotices(team, nativeSession) {
      if (nativeSession !== undefined && (await store.pairs.ofNative(nativeSession))) return []
      return notices.take(team, { maxChars: START_NOTICES_CHARS, as: "delivered" })
    },
    endWaiting: changes.end,
    pull: (team) => notices.take(team, { maxChars: PULL_CHARS, as: "done" }),
    async run(signal) {
      const every = (everyMs: number, name: string, round: () => Promise<void>) =>
        superviseLoop({ name, signal, everyMs, round, onTrouble })
      const beside = [
        every(SWEEP_MS, "idle agent processes", pool.sweep),
        every(settings.healthCheckInterval, "agent process health", async () => {
          await pool.measure()
          await pool.examine()
        }),
      ]
      const missing = await pairing.check().catch((error: unknown) => {
        onTrouble(error, "pairs and their sessions")
        return []
      })
      for (const { pair, where } of missing) {
        const what = where === "gone" ? "no longer has the session" : "has in another folder the session"
        onTrouble(
          undefined,
          `${pair.id}: ${pair.platform} ${what} ${pair.nativeId}; the next question starts a new one`,
        )
      }
      const waking = prestart({ ...deps, pool, asking }, signal).catch((error: unknown) => onTrouble(error, "prestart"))
      await asking.run(signal)
      await waking
      await Promise.all(beside)
      await Promise.all(drivers.map((driver) => driver.close()))
    },
  }
}

/** Starts a process for a pair, with its team's settings. */
function starterOf(
  { machine, mcp, permit }: TeamsDeps,
  atWork: (pairId: string) => string | undefined,
): PairSessionsDeps["start"] {
  return async (driver, pair, team, session) => {
    let nativeId = session.kind === "fork" ? session.as : session.id
    const driven = await driver.start({
      ...{ machine, mcp: mcp(pair), session, projectDir: team.projectDir, permissionMode: team.permissionMode },
      skipPermissions: team.skipPermissions,
      instructionsFile: team.instructionsFile,
      settingsFile: team.settingsFile,
      ...(team.program === null ? {} : { program: team.program }),
      onPermission: (request, signal) => {
        const canUpdateInput = driver.can.updatedInput
        return permit(request, { pair, team: team.name, nativeId, messageId: atWork(pair.id), canUpdateInput }, signal)
      },
    })
    nativeId = driven.nativeId
    return driven
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGTERM")
  } catch {
    // It has exited already.
  }
}
