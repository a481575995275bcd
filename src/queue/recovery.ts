import type { AgentConsole } from "../domain/agent-console.ts"
import type { AgentLine } from "../domain/agent-line.ts"
import type { Delivery } from "../domain/delivery.ts"
import { promptHash } from "../domain/ids.ts"
import type { LiveAgent, LiveSessions } from "../domain/live.ts"
import { pastedHash } from "../domain/mail.ts"
import { messageOf } from "../domain/message.ts"
import type { Machine } from "../domain/platform.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import { type Clock, sleep } from "../lib/clock.ts"
import { type DeliverDeps, pasteRequest } from "./deliver.ts"
import { EVIDENCE } from "./evidence.ts"
import type { MessageLeases } from "./message-leases.ts"
import type { Paster } from "./paste.ts"
import { placeOf } from "./resolve-target.ts"

/** Finds out whether what was begun has arrived: by what the agent says, never by doing it again. */
export interface Recovery {
  settle(delivery: Delivery, signal: AbortSignal): Promise<void>
}

export interface RecoveryDeps extends Pick<DeliverDeps, "isUnder" | "processStart" | "isStillThere"> {
  store: Store
  clock: Clock
  leases: MessageLeases
  live: LiveSessions
  paster: Paster
  lines: readonly AgentLine[]
  consoles: readonly AgentConsole[]
  machine: Machine
  /** Whether hooks have left something that was not taken yet. */
  hasSpooled(): Promise<boolean>
  /** One at a time for each place: nobody else writes meanwhile. */
  inTurn<T>(place: string, act: () => Promise<T>): Promise<T>
}

/** So long a hook may be on its way, or in the spool, after the agent has taken a text. */
const GRACE_MS = { pane: 5_000, line: 1_000, turn: 5_000, wake: 10_000, pull: 0 }
const LOOK_MS = 300
/** A person is told when it is not known after this. */
const PATIENCE_MS = 10 * 60_000
/** The agent did something since, and said nothing of this. */
const SILENT_MS = 30_000
const CONFIRM_MS = 5_000

type Verdict = "settled" | "delivered" | "wait" | { again: Reason } | { unclear: Reason }

export function makeRecovery(deps: RecoveryDeps): Recovery {
  const { store, clock, leases, live, paster, lines, consoles, machine, hasSpooled, inTurn } = deps
  const startedAtMs = clock.nowMs()
  /** When Enter was pressed for it: an empty input line no longer means that it never got there. */
  const enteredAtMs = new WeakMap<Delivery, number>()

  /** Everything that hooks have said up to now was heard. */
  const isHeard = async () => {
    if (await hasSpooled()) return false
    const last = await store.journal.last()
    const untilMs = clock.nowMs() + CONFIRM_MS
    while ((await store.journal.position(EVIDENCE)) < last) {
      if (clock.nowMs() > untilMs) return false
      await sleep(20)
    }
    return true
  }

  const inTranscript = async (delivery: Delivery): Promise<boolean> => {
    const session = await store.sessions.byId(delivery.sessionId!)
    if (!session) return false
    const prompts = await store.turns.ofSession(session.id, { kinds: ["prompt"], limit: 20 })
    const hash = pastedHash(delivery, session.platform, consoles)
    return prompts.some(
      ({ text, atMs }) =>
        atMs >= delivery.attemptStartedAtMs! && (text.includes(delivery.key) || promptHash(text) === hash),
    )
  }

  const inPane = async (delivery: Delivery, agent: LiveAgent, signal: AbortSignal): Promise<Verdict> => {
    const pane = agent.route?.pane
    if (!pane) return { unclear: because("terminal_unknown") }
    const isCommand = messageOf(delivery).isCommand === true
    const result = await inTurn(placeOf(agent), () => paster.finish(pasteRequest(deps, delivery, agent, pane)))
    if (result.kind === "submitted" || result.kind === "pasted") enteredAtMs.set(delivery, clock.nowMs())
    if (result.kind === "submitted" && isCommand) return "delivered"
    if (result.kind === "submitted")
      return (await leases.isConfirmed(delivery, CONFIRM_MS, signal)) ? "settled" : "wait"
    if (result.kind === "refused") return { unclear: because("refused", result.reason) }
    if (result.kind !== "later" || result.reason !== "empty") return "wait"
    if (isCommand) return { unclear: because("command_untold") }
    const entered = enteredAtMs.get(delivery)
    if (entered === undefined && isUntouched(agent, delivery)) return { again: because("not_reached_input") }
    if (clock.nowMs() - (entered ?? delivery.attemptStartedAtMs!) < SILENT_MS) return "wait"
    return {
      unclear: because(entered === undefined ? "worked_silently" : "never_acknowledged"),
    }
  }

  const onLine = async (delivery: Delivery, agent: LiveAgent): Promise<Verdict> => {
    const { platform, nativeId } = agent.session
    const line = await lines.find((one) => one.platform === platform)?.open(machine, { nativeId })
    if (!line) return "wait"
    try {
      const { kind } = await line.stateOf(delivery.key, delivery.attemptStartedAtMs!)
      return kind === "none" ? { again: because("agent_lacks_it") } : "delivered"
    } finally {
      line.close()
    }
  }

  const look = async (delivery: Delivery, signal: AbortSignal): Promise<Verdict> => {
    const route = delivery.route ?? "pane"
    const isSettled = async () => (await store.deliveries.byKey(delivery.key))?.state !== "queued"
    if (await isSettled()) return "settled"
    if (clock.nowMs() - Math.max(delivery.attemptStartedAtMs ?? 0, startedAtMs) < GRACE_MS[route]) return "wait"
    if (!(await isHeard())) return "wait"
    if (await isSettled()) return "settled"
    if (delivery.sessionId === null) return { unclear: because("receiver_unknown") }
    if (await inTranscript(delivery)) return "delivered"
    const agent = await live.ofSession(delivery.sessionId)
    const can = consoles.find(({ platform }) => platform === agent?.session.platform)?.can
    if (route === "line" && agent) return onLine(delivery, agent)
    if (!agent || agent.status === "gone")
      return can?.promptHook === false
        ? { unclear: because("ended_before_told") }
        : { again: because("ended_before_taken") }
    if (agent.status !== "idle") return "wait"
    return route === "pane" ? inPane(delivery, agent, signal) : { again: because("not_taken") }
  }

  return {
    async settle(delivery, signal) {
      const untilMs = clock.nowMs() + PATIENCE_MS
      while (!signal.aborted) {
        const verdict = await look(delivery, signal)
        if (verdict === "settled") return leases.drop(delivery)
        if (verdict === "delivered") return leases.settle(delivery, "delivered", because("found_in_records"))
        if (typeof verdict === "object" && "again" in verdict) return leases.again(delivery, verdict.again)
        if (typeof verdict === "object") return leases.settle(delivery, "uncertain", verdict.unclear)
        if (clock.nowMs() > untilMs) return leases.settle(delivery, "uncertain", because("nothing_tells"))
        await leases.isConfirmed(delivery, LOOK_MS, signal)
      }
    },
  }
}

/** Nothing happened in it since the attempt began. */
const isUntouched = ({ statusAtMs }: LiveAgent, { attemptStartedAtMs }: Delivery) =>
  statusAtMs === null || attemptStartedAtMs === null || statusAtMs <= attemptStartedAtMs
