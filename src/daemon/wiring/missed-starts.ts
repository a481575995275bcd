/** Sessions that began while no daemon could answer: they get their start context at a prompt, once. */
import type { KeptHook } from "../../capture/store/intake.ts"
import type { Clock } from "../../lib/clock.ts"

export interface MissedStarts {
  add(spooled: KeptHook): void
  /** The missed start of this event's session, if any. */
  take(heard: KeptHook): KeptHook | undefined
}

/** After this long the context is no longer useful. */
const RECENT_MS = 30 * 60 * 1000
const MOST = 500

/** `onMissed` gives the next prompt's hook more time: on a busy machine its usual limit would be missed each time. */
export function makeMissedStarts(clock: Clock, onMissed: () => void): MissedStarts {
  const starts = new Map<string, KeptHook>()
  const keyOf = ({ sent, event }: KeptHook) => `${sent.platform} ${event.sessionId}`
  return {
    add(spooled) {
      const { sent, event } = spooled
      // Sub-agents get context from their parents. An ended session may be resumed, and has had none.
      if (event.sessionId === undefined || event.parent?.kind === "subagent") return
      if (event.start !== undefined && event.start !== "resume" && clock.nowMs() - sent.atMs < RECENT_MS) {
        starts.delete(keyOf(spooled))
        starts.set(keyOf(spooled), spooled)
        const [oldest] = starts.keys()
        if (starts.size > MOST && oldest !== undefined) starts.delete(oldest)
        onMissed()
      }
    },
    take(heard) {
      const start = starts.get(keyOf(heard))
      starts.delete(keyOf(heard))
      return start && clock.nowMs() - start.sent.atMs < RECENT_MS ? start : undefined
    },
  }
}
