/** An interrupt and a death say nothing by a hook: only the agent's registry tells that a turn is over. */
import type { LiveSessions } from "../domain/live.ts"
import { AGENT_CHANNEL } from "../domain/message.ts"
import { because } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "../lib/clock.ts"
import { moveOn, WITH_AGENT } from "../lib/transitions.ts"
import type { LineTurns } from "./line-turns.ts"
import { endedOver } from "./messages/entries.ts"
export function makeProgress(deps: {
  store: Store
  clock: Clock
  live: LiveSessions
  lineTurns: Pick<LineTurns, "follow">
}) {
  const { store, clock, live, lineTurns } = deps
  return async (): Promise<void> => {
    const given = await store.deliveries.ofChannel(AGENT_CHANNEL, WITH_AGENT)
    for (const delivery of given) {
      const { sessionId, settledAtMs, route } = delivery
      if (route === "line" && sessionId !== null) {
        lineTurns.follow(delivery)
        continue
      }
      if (sessionId === null || settledAtMs === null || clock.nowMs() - settledAtMs < SETTLED_MS) continue
      const agent = await live.ofSession(sessionId)
      const isGone = !agent || agent.status === "gone"
      if (!isGone && (agent.status !== "idle" || route === "pull")) continue
      // What was idle before it was handed over is not idle after it.
      if (!isGone && (agent.statusAtMs ?? 0) < settledAtMs && clock.nowMs() - settledAtMs < STALE_MS) continue
      await store.transaction((tx) =>
        isGone
          ? endedOver(tx, delivery, clock.nowMs())
          : moveOn(tx, delivery, ["done"], clock.nowMs(), because("idle_again")),
      )
    }
  }
}

const SETTLED_MS = 2_000
const STALE_MS = 30_000
