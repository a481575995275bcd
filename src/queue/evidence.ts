import type { AgentConsole } from "../domain/agent-console.ts"
import type { Delivery } from "../domain/delivery.ts"
import type { SessionId } from "../domain/ids.ts"
import type { JournalConsumer, JournalEntry } from "../domain/journal.ts"
import type { LiveAgent } from "../domain/live.ts"
import { pastedHash } from "../domain/mail.ts"
import { AGENT_CHANNEL, MESSAGE_ID } from "../domain/message.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "../lib/clock.ts"
import { moveOn, settleLeased, upTo } from "../lib/transitions.ts"
import { endedOver } from "./messages/entries.ts"

export const EVIDENCE = "reach.evidence"

export interface EvidenceDeps {
  clock: Clock
  host: string
  consoles: readonly AgentConsole[]
  turns: OpenTurns
  /** What was handed over is known to have arrived, once this is committed. */
  onArrived(key: string): void
  /** Something happened in a session: what waits for it may have its turn now. */
  onActivity(session: SessionId, cwd: string | undefined): void
}

/** Reads what agents' hooks say, and moves messages on: accepted, part of a turn, under way, done. */
export function makeEvidence({ clock, host, consoles, turns, onArrived, onActivity }: EvidenceDeps): JournalConsumer {
  const onPrompt = async (tx: Store, hook: Heard) => {
    const isInTurn = turns.since(hook.session) !== undefined
    const ids = hook.messageIds
    // Two may say the same words: one prompt is one of them, and that is the one that went first.
    let isTaken = false
    for (const delivery of await candidates(tx, hook, host)) {
      if (delivery.route === "turn" || !isSince(hook, delivery)) continue
      const isNamed = ids.includes(delivery.key)
      if (!isNamed && (isTaken || !isPromptOf(delivery, hook, consoles))) continue
      if (!(await settleLeased(tx, delivery, "delivered", clock.nowMs()))) continue
      isTaken ||= !isNamed
      onArrived(delivery.key)
      // Said into a turn that runs, it is only taken in; otherwise the turn is its own.
      if (!isInTurn) await moveOn(tx, { ...delivery, state: "delivered" }, ["seen", "running"], clock.nowMs())
    }
    turns.opened(hook.session, hook.atMs)
  }

  /** The agent is at work: what was handed over before this is part of it. */
  const onWork = async (tx: Store, hook: Heard) => {
    for (const delivery of await tx.deliveries.underWay(hook.session)) {
      if (!isSince(hook, delivery)) continue
      if (delivery.state === "queued") await takenByTurn(tx, delivery, clock.nowMs())
      else await moveOn(tx, delivery, upTo("running", delivery.state), clock.nowMs())
    }
  }

  const onStop = async (tx: Store, hook: Heard) => {
    for (const delivery of await tx.deliveries.underWay(hook.session)) {
      if (!isSince(hook, delivery)) continue
      if (delivery.state === "queued") {
        if (hook.isGoingOn && (await takenByTurn(tx, delivery, clock.nowMs())))
          await moveOn(tx, { ...delivery, state: "running" }, ["done"], clock.nowMs())
      }
      // Taken in while another turn ran, it begins the next one.
      else if (delivery.state === "delivered") await moveOn(tx, delivery, ["seen", "running"], clock.nowMs())
      else await moveOn(tx, delivery, upTo("done", delivery.state), clock.nowMs())
    }
    turns.closed(hook.session)
  }

  const onEnd = async (tx: Store, hook: Heard) => {
    for (const delivery of await tx.deliveries.underWay(hook.session))
      if (delivery.state !== "queued") await endedOver(tx, delivery, clock.nowMs())
    turns.closed(hook.session)
  }

  const hear = async (tx: Store, hook: Heard) => {
    if (hook.isSubagent) return
    if (hook.event === "UserPromptSubmit") await onPrompt(tx, hook)
    else if (hook.event === "Stop") await onStop(tx, hook)
    else if (hook.event === "SessionEnd") await onEnd(tx, hook)
    else if (hook.event === "SessionStart") turns.closed(hook.session)
    else if (WORK.has(hook.event)) await onWork(tx, hook)
    // A prompt opens no way; everything else may.
    if (OPENS.has(hook.event)) onActivity(hook.session, hook.cwd)
  }

  return {
    name: EVIDENCE,
    kinds: ["hook.received"],
    async after(entries, tx) {
      for (const entry of entries) {
        const hook = heard(entry)
        if (hook) await hear(tx, hook)
      }
    },
  }
}

/** What a turn's own work looks like. */
const WORK = new Set(["PostToolUse", "PostToolUseFailure", "PreToolUse", "PreCompact", "PostCompact"])
const OPENS = new Set(["Stop", "SessionStart", "SessionEnd"])

interface Heard {
  event: string
  session: SessionId
  platform: string
  atMs: number
  pid: number | undefined
  cwd: string | undefined
  promptHash: string | undefined
  messageIds: string[]
  /** The turn went on because a hook made it. */
  isGoingOn: boolean
  isSubagent: boolean
}

function heard({ kind, sessionId, atMs, data }: JournalEntry): Heard | undefined {
  if (kind !== "hook.received" || sessionId === null) return undefined
  const word = (name: string) => (typeof data[name] === "string" ? (data[name] as string) : undefined)
  return {
    event: word("event") ?? "",
    session: sessionId as SessionId,
    platform: word("platform") ?? "",
    atMs,
    pid: typeof data.pid === "number" ? data.pid : undefined,
    cwd: word("cwd"),
    promptHash: word("prompt_hash"),
    messageIds: word("message_ids")?.match(MESSAGE_ID) ?? [],
    isGoingOn: word("stop_hook_active") === "true",
    isSubagent: word("agent_id") !== undefined,
  }
}

/** An attempt that began after the hook spoke is not what the hook spoke of. */
const isSince = (hook: Heard, { attemptStartedAtMs }: Delivery) =>
  attemptStartedAtMs === null || hook.atMs >= attemptStartedAtMs

/** Given by a hook, it has arrived once the agent goes on. */
async function takenByTurn(tx: Store, delivery: Delivery, nowMs: number): Promise<boolean> {
  if (delivery.route !== "turn" || !(await settleLeased(tx, delivery, "delivered", nowMs))) return false
  await moveOn(tx, { ...delivery, state: "delivered" }, ["seen", "running"], nowMs)
  return true
}

/** Those that are being handed over to the session, or to another one of its process: /clear gives it another id. */
async function candidates(tx: Store, hook: Heard, host: string): Promise<Delivery[]> {
  const tried = (found: (Delivery | undefined)[]) =>
    (
      found.filter(
        // A question of one team to another carries such an id too, and is settled by who asked it.
        (one) => one?.channel === AGENT_CHANNEL && one.state === "queued" && one.attemptStartedAtMs !== null,
      ) as Delivery[]
    ).sort((a, b) => a.attemptStartedAtMs! - b.attemptStartedAtMs!)
  const named = await Promise.all(hook.messageIds.map((id) => tx.deliveries.byKey(id)))
  const own = tried([...named, ...(await tx.deliveries.underWay(hook.session))])
  if (own.length > 0 || hook.pid === undefined) return own
  const beside = (await tx.routes.list(host)).filter(
    ({ pid, sessionId }) => pid === hook.pid && sessionId !== hook.session,
  )
  const found = await Promise.all(beside.map(({ sessionId }) => tx.deliveries.underWay(sessionId)))
  return tried(found.flat())
}

function isPromptOf(delivery: Delivery, hook: Heard, consoles: readonly AgentConsole[]): boolean {
  if (hook.promptHash === undefined) return false
  return hook.promptHash === pastedHash(delivery, hook.platform, consoles)
}

/** Which sessions are in a turn, as their hooks told it: the agent's own registry is a moment behind. */
export interface OpenTurns {
  opened(session: SessionId, atMs: number): void
  closed(session: SessionId): void
  /** Since when; undefined when none is known to be open. */
  since(session: SessionId): number | undefined
  /** As the registry says it, unless a hook has told of a turn that the registry does not know yet. */
  isBusy(agent: LiveAgent, nowMs: number): boolean
}

/** So long after a prompt the agent's registry may still say what was before it. */
const REGISTRY_LAG_MS = 3_000

export function makeOpenTurns(): OpenTurns {
  const open = new Map<SessionId, number>()
  return {
    opened: (session, atMs) => void open.set(session, atMs),
    closed: (session) => void open.delete(session),
    since: (session) => open.get(session),
    isBusy({ session, status, statusAtMs }, nowMs) {
      if (status !== "idle") return true
      const sinceMs = open.get(session.id)
      if (sinceMs === undefined || nowMs - sinceMs > REGISTRY_LAG_MS) return false
      return statusAtMs === null || statusAtMs <= sinceMs
    },
  }
}
