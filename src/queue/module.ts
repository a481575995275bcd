/** The door of the queue: messages for agents that run somewhere, and how they get there. */
import type { AgentConsole } from "../domain/agent-console.ts"
import type { AgentLine } from "../domain/agent-line.ts"
import type { Caller, Clients } from "../domain/caller.ts"
import type { HookEvent, SentHook } from "../domain/hook.ts"
import { newKey, type SessionId } from "../domain/ids.ts"
import type { JournalConsumer } from "../domain/journal.ts"
import type { LiveAgent, LiveSessions } from "../domain/live.ts"
import { isMail } from "../domain/mail.ts"
import type { Address, MessagePayload, Sender } from "../domain/message.ts"
import type { Messages } from "../domain/messages.ts"
import type { Panes } from "../domain/panes.ts"
import type { Machine } from "../domain/platform.ts"
import type { Hookless, Watch } from "../domain/presence.ts"
import type { Store } from "../domain/store.ts"
import type { Roster, Team } from "../domain/team.ts"
import { makeBackoff } from "../lib/backoff.ts"
import type { Clock } from "../lib/clock.ts"
import { makeKeyedMutex } from "../lib/mutex.ts"
import { isUnder } from "../lib/process-ancestry.ts"
import { makeBackgroundHooks, type WaitAnswer } from "./background-hooks.ts"
import { makeDeliver } from "./deliver.ts"
import { makeDispatcher } from "./dispatcher.ts"
import { makeEvidence, makeOpenTurns } from "./evidence.ts"
import { makeInterrupt } from "./interrupt.ts"
import { makeLineTurns } from "./line-turns.ts"
import { makeMessageLeases } from "./message-leases.ts"
import { senderOf } from "./messages/addressing.ts"
import { type MessageSettings, makeMessages } from "./messages/messages.ts"
import { makePulling, type PulledMail } from "./messages/pulling.ts"
import { messageRedaction } from "./messages/redaction.ts"
import { makeStuck, type Stuck } from "./messages/stuck.ts"
import { makePaster } from "./paste.ts"
import { makePrecedence } from "./precedence.ts"
import { makeProgress } from "./progress.ts"
import { makeRecovery } from "./recovery.ts"
import { isUnreachable, makeResolveTarget, placeOf } from "./resolve-target.ts"
import { makeRoutesTo, type RoutesTo } from "./routes-to.ts"
import { makeRouteSelection, PAUSES } from "./select-route.ts"
import { makeTurnContext } from "./turn.ts"
export interface QueueModule {
  messages: Messages
  stuck: Stuck
  routesTo(agent: LiveAgent): Promise<RoutesTo>
  senderOf(caller: Caller): Promise<Sender>
  /** Reports a restart that the agent's own asking shows. */
  beforePull(team: Team, caller: Caller): Promise<void>
  /** Mail that the team's own agent fetches. */
  pull(team: Team, caller: Caller): Promise<PulledMail>
  /** What a turn that is about to end is told, so that it goes on. */
  turnContext(sent: SentHook, event: HookEvent): Promise<string | undefined>
  /** A hook waits in the background of its agent. */
  wait(sent: SentHook, event: HookEvent, signal: AbortSignal): Promise<WaitAnswer>
  /** Sends those that wait to the daemon that comes next. */
  endWaiting(): void
  consumers: JournalConsumer[]
  run(signal: AbortSignal): Promise<void>
}

export interface QueueDeps {
  store: Store
  clock: Clock
  roster: Roster
  clients: Clients
  live: LiveSessions
  hookless: Hookless
  panes: Panes
  consoles: readonly AgentConsole[]
  lines: readonly AgentLine[]
  machine: Machine
  settings: MessageSettings
  host: string
  /** Host and data directory. Leases held under it by an earlier daemon are dead. */
  home: string
  processStart(pid: number): string | undefined
  parentOf(pid: number): number | undefined
  watch: Pick<Watch, "mayReturn" | "reportTakeovers" | "readName">
  /** Starts a session of a team that has none, where the team allows it. */
  wake(team: string): Promise<unknown>
  /** Without the secrets in it. */
  redact(text: string): string
  /** A platform as people call it. */
  labelOf(platform: string): string
  logPlatforms?: readonly string[]
  /** Whether hooks have left something that was not taken yet. */
  hasSpooled(): Promise<boolean>
  onTrouble(error: unknown, what: string): void
}

export function makeMessageQueue(deps: QueueDeps): QueueModule {
  const { roster, clients, host, home, processStart, parentOf } = deps
  const isAgentUnder = (pid: number, panePid: number) => isUnder(pid, panePid, parentOf)
  const ownerPrefix = `dispatcher ${host} ${home} `
  const leases = makeMessageLeases({ ...deps, ownerPrefix, owner: ownerPrefix + newKey() })
  const backoff = makeBackoff(PAUSES)
  const turns = makeOpenTurns()
  // A team and its session, or two teams of one project, lead to the same pane.
  const inTurn = makeKeyedMutex()
  const resolveTarget = makeResolveTarget(deps)
  const isStillThere = async (agent: LiveAgent) => {
    const now = await deps.live.ofSession(agent.session.id, { isFresh: true })
    return now !== undefined && now.status !== "gone" && now.pid === agent.pid && placeOf(now) === placeOf(agent)
  }
  const hooks = makeBackgroundHooks({ processStart })
  const paster = makePaster(deps)
  const routes = makeRouteSelection({ ...deps, turns, hooks })
  const lineTurns = makeLineTurns({ ...deps, onOver: (to) => dispatcher.nudge(to) })
  const deliver = makeDeliver({ ...deps, leases, paster, hooks, lineTurns, isUnder: isAgentUnder, isStillThere })
  const recovery = makeRecovery({ ...deps, leases, paster, inTurn, isUnder: isAgentUnder, isStillThere })
  const dispatcher = makeDispatcher({
    ...deps,
    leases,
    resolveTarget,
    routes,
    precedence: makePrecedence({ ...deps, resolveTarget, routes }),
    backoff,
    recovery,
    deliver,
    inTurn,
    progress: makeProgress({ ...deps, lineTurns }),
  })
  const onActivity = (sessionId: SessionId | undefined, cwd: string | undefined) => {
    if (sessionId !== undefined) dispatcher.nudge({ sessionId })
    for (const { name } of cwd === undefined ? [] : roster.at(cwd)) dispatcher.nudge({ team: name })
  }
  const interrupt = makeInterrupt({
    ...deps,
    resolveTarget,
    turns,
    paster,
    isAgentThere: async (agent, pane) =>
      processStart(agent.pid) === agent.processStart &&
      isAgentUnder(agent.pid, pane.panePid) &&
      (await isStillThere(agent)),
  })
  const caveat = async (to: Address, payload: MessagePayload) => {
    const isWithoutHooks = to.team !== undefined && roster.byName(to.team)?.sessionFile != null
    if (isMail({ payload }) && payload.priority !== "stop" && !isWithoutHooks) return undefined
    const agent = await resolveTarget(to)
    if (isUnreachable(agent))
      return agent.isFetched ? "Its agent fetches its messages itself: it gets this when it asks." : undefined
    return routes.caveat(agent, { payload })
  }
  const messages = makeMessages({ ...deps, interrupt, caveat, onQueued: dispatcher.nudge })
  return {
    messages,
    stuck: makeStuck({ ...deps, messages }),
    routesTo: makeRoutesTo({ ...deps, hooks, isUnder: isAgentUnder }),
    async senderOf(caller) {
      const { nativeSession: native } = caller
      const session = native && (await deps.store.sessions.byNative(native.platform, native.id))
      return senderOf(caller, { roster, clients, session })
    },
    ...makePulling({ ...deps, leases }),
    turnContext: makeTurnContext({ ...deps, leases, backoff, dispatcher, resolveTarget }),
    async wait({ platform }, { sessionId, pid, cwd }, signal) {
      if (sessionId === undefined) return { kind: "over" }
      const answer = hooks.wait({ platform, nativeId: sessionId, pid }, signal)
      const session = await deps.store.sessions.byNative(platform, sessionId)
      onActivity(session?.id, cwd)
      return answer
    },
    endWaiting: hooks.close,
    consumers: [makeEvidence({ ...deps, turns, onArrived: leases.noticed, onActivity }), messageRedaction(deps)],
    async run(signal) {
      await dispatcher.run(signal)
      await lineTurns.end()
    },
  }
}
