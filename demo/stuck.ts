import { hostname } from "node:os"
import type { Home } from "../src/daemon/process/home.ts"
import { takeLock } from "../src/daemon/process/lock.ts"
import { newMessageId, newSessionId } from "../src/domain/ids.ts"
import { AGENT_CHANNEL, laneOf, type MessagePayload } from "../src/domain/message.ts"
import { because } from "../src/domain/reason.ts"
import type { Store } from "../src/domain/store.ts"
import { DAY_MS, MINUTE_MS } from "../src/lib/time.ts"
import { enqueue, moveOn, settleLeased } from "../src/lib/transitions.ts"
import { endedOver } from "../src/queue/messages/entries.ts"
import { sqlite } from "../src/store/dialects/sqlite.ts"
import { openStore } from "../src/store/open.ts"
import { allStories } from "./stories.ts"
import { idOf } from "./story.ts"

interface Left {
  /** The session it was given to. */
  story: string
  text: string
  agoMs: number
  how: "failed" | "uncertain"
}

const LEFT: readonly Left[] = [
  {
    story: "partial-refunds",
    text: "Leave the refunds of order 81590 alone until the bank has called back.",
    agoMs: 80 * MINUTE_MS,
    how: "uncertain",
  },
  {
    story: "oversell",
    text: "Print the picking lists of aisle 3 again: the printer was out of paper.",
    agoMs: 35 * MINUTE_MS,
    how: "failed",
  },
]
const DISPATCHER = "the demo's dispatcher"

/**
 * Messages that a dispatcher of this morning could not bring to their end. They are written as the dispatcher writes them, before
 * there is a daemon: what happened then cannot be asked of the one that starts now.
 */
export async function leaveStuck(home: Home, nowMs: number): Promise<void> {
  // One owner at a time, as always.
  const lock = takeLock(home)
  const store = await openStore(sqlite({ path: home.database, onKeptAside: () => {} }))
  try {
    for (const left of LEFT) await store.transaction((tx) => leave(tx, left, nowMs))
  } finally {
    await store.close()
    lock?.release()
  }
}

async function leave(tx: Store, { story: name, text, agoMs, how }: Left, nowMs: number): Promise<void> {
  const { agent: platform, title, startMs, project: team } = allStories(nowMs).find((story) => story.name === name)!
  const about = { platform, nativeId: idOf(platform, name), projectId: null, title, tags: [], key: null }
  const { session } = await tx.sessions.create({ id: newSessionId(), ...about, createdAtMs: startMs })
  const payload: MessagePayload = { team, text, priority: "normal", sender: { kind: "owner", name: "the owner" } }
  const lane = laneOf({ team }, "normal")
  const atMs = nowMs - agoMs
  const sent = { key: newMessageId(team), lane, channel: AGENT_CHANNEL, payload, repeatable: false }
  await enqueue(tx, { ...sent, expiresAtMs: nowMs + 30 * DAY_MS }, atMs)
  const request = {
    owner: DISPATCHER,
    host: hostname(),
    leaseMs: MINUTE_MS,
    limit: 1,
    channels: [AGENT_CHANNEL],
    lanes: [lane],
  }
  const [leased] = await tx.deliveries.lease(request, atMs)
  const way = { sessionId: session.id, route: "pane" as const }
  await tx.deliveries.startAttempt(leased!.seq, DISPATCHER, atMs, way)
  const delivery = { ...leased!, ...way }
  if (how === "uncertain") await settleLeased(tx, delivery, "uncertain", atMs, because("worked_silently"))
  else {
    await settleLeased(tx, delivery, "delivered", atMs)
    await moveOn(tx, { ...delivery, state: "delivered" }, ["seen", "running"], atMs)
    await endedOver(tx, { ...delivery, state: "running" }, atMs + MINUTE_MS)
  }
}
