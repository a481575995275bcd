import type { AgentConsole } from "../../domain/agent-console.ts"
import { DELIVERY_STATES } from "../../domain/delivery.ts"
import { promptHash } from "../../domain/ids.ts"
import { pastedHash } from "../../domain/mail.ts"
import { lanesOf, messageOf } from "../../domain/message.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import type { Turn } from "../../domain/turn.ts"

/** Older messages cannot be the current prompt. */
const LAST_MESSAGES = 50
const NOT_QUEUED = DELIVERY_STATES.filter((state) => state !== "queued")
/** The difference between the agent's clock and ours, and how long a paste may take to become a turn. */
const BEFORE_MS = 5_000
const AFTER_MS = 10 * 60 * 1000

export interface EchoDeps {
  channel: string
  consoles: readonly AgentConsole[]
  redact(text: string): string
}

/** Whether a prompt was written in this topic of the messenger and is visible there already. */
export async function isEcho(
  tx: Store,
  turn: Turn,
  { platform, teams, topic }: { platform: string; teams: readonly string[]; topic: Topic | undefined },
  { channel, consoles, redact }: EchoDeps,
): Promise<boolean> {
  const lanes = [lanesOf({ sessionId: turn.sessionId }), ...teams.map((team) => lanesOf({ team }))].flat()
  const said = promptHash(turn.text)
  const waiting = await tx.deliveries.ofLanes(lanes, { states: ["queued"], first: LAST_MESSAGES })
  const delivered = await tx.deliveries.ofLanes(lanes, { states: NOT_QUEUED, last: LAST_MESSAGES })
  for (const delivery of [...waiting, ...delivered]) {
    const { origin, text, team } = messageOf(delivery)
    const beganMs = delivery.attemptStartedAtMs
    const isBeside = team !== undefined && topic?.threadId != null && origin?.threadId !== topic.threadId
    if (origin?.channel !== channel || beganMs === null) continue
    if (turn.atMs < beganMs - BEFORE_MS || turn.atMs > beganMs + AFTER_MS) continue
    // Stored turns are redacted.
    const hashes = [promptHash(text), promptHash(redact(text)), pastedHash(delivery, platform, consoles)]
    if (hashes.includes(said)) return !isBeside
  }
  return false
}
