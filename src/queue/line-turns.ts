/** What comes of messages that went by a line: the platform itself says when their turn runs, and when it is over. */
import type { AgentLine, OpenLine, TakenState } from "../domain/agent-line.ts"
import type { Delivery } from "../domain/delivery.ts"
import { Failure } from "../domain/failure.ts"
import type { LiveSessions } from "../domain/live.ts"
import { type Address, addressOf } from "../domain/message.ts"
import type { Machine } from "../domain/platform.ts"
import { because } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "../lib/clock.ts"
import { isWithAgent, moveOn, upTo } from "../lib/transitions.ts"
export interface LineTurns {
  /** Follows it to its end, once; the line that is given is closed then. */
  follow(delivery: Delivery, line?: OpenLine): void
  end(): Promise<void>
}

export interface LineTurnsDeps {
  store: Store
  clock: Clock
  live: Pick<LiveSessions, "ofSession">
  lines: readonly AgentLine[]
  machine: Machine
  /** Its turn is over: what waits may have its own. */
  onOver(to: Address): void
  onTrouble(error: unknown, what: string): void
}

/** The platform tells of changes; this is for those that were missed. */
const LOOK_MS = 5_000
/** Its records are a moment behind its status. */
const SETTLE_MS = 50
/** To ask where nobody has the session open costs a process each time. */
const AWAY_MS = 60_000
const DIED = because("session_closed_early")

export function makeLineTurns(deps: LineTurnsDeps): LineTurns {
  const { store, clock, live, lines, machine, onOver, onTrouble } = deps
  const ending = new AbortController()
  const followed = new Map<number, Promise<void>>()
  const asleep = new Map<number, number>()

  const open = async (delivery: Delivery): Promise<OpenLine | undefined> => {
    const session = await store.sessions.byId(delivery.sessionId!)
    if (!session) return undefined
    const agent = await live.ofSession(session.id)
    if (!agent || agent.status === "gone") {
      const nowMs = clock.nowMs()
      if (nowMs < (asleep.get(delivery.seq) ?? 0)) return undefined
      asleep.set(delivery.seq, nowMs + AWAY_MS)
    }
    const { platform, nativeId } = session
    return lines.find((one) => one.platform === platform)?.open(machine, { nativeId })
  }

  /** False while there is more to come. */
  const note = async ({ key }: Delivery, { kind, why }: TakenState, isLive: boolean): Promise<boolean> => {
    if (kind === "waiting") return false
    const isDead = !isLive && (kind === "running" || kind === "interrupted")
    const isFailed = isDead || kind === "failed" || kind === "none"
    await store.transaction(async (tx) => {
      const now = await tx.deliveries.byKey(key)
      if (!now || !isWithAgent(now.state)) return
      if (isFailed)
        await moveOn(tx, now, ["failed"], clock.nowMs(), isDead ? DIED : why ? because("agent_said", why) : LOST)
      else if (kind === "running") await moveOn(tx, now, upTo("running", now.state), clock.nowMs())
      else await moveOn(tx, now, upTo("done", now.state), clock.nowMs(), kind === "interrupted" ? CUT : null)
    })
    return isFailed || kind !== "running"
  }

  const watch = async (delivery: Delivery, given: OpenLine | undefined) => {
    const line = given ?? (await open(delivery))
    if (!line) return
    try {
      for (let last = ""; !ending.signal.aborted; ) {
        const state = await line.stateOf(delivery.key, delivery.attemptStartedAtMs ?? 0)
        if (state.kind !== last && (await note(delivery, state, line.isLive))) {
          asleep.delete(delivery.seq)
          return onOver(addressOf(delivery))
        }
        last = state.kind
        if (!line.isLive) return
        await line.changed(line.status === "idle" ? SETTLE_MS : LOOK_MS, ending.signal)
      }
    } finally {
      line.close()
    }
  }

  return {
    follow(delivery, line) {
      const { seq, key } = delivery
      if (followed.has(seq) || ending.signal.aborted) return line?.close()
      const done = watch(delivery, line)
        // It is asked again as long as it is under way.
        .catch((error: unknown) => (error instanceof Failure ? undefined : onTrouble(error, key)))
        .finally(() => followed.delete(seq))
      followed.set(seq, done)
    },
    async end() {
      ending.abort()
      await Promise.all(followed.values())
    },
  }
}

const LOST = because("lost_by_agent")
const CUT = because("turn_interrupted")
