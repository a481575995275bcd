import { createHash } from "node:crypto"
import type { AdmittedUpdate, Channel, RawUpdate } from "../../domain/channel.ts"
import type { Store } from "../../domain/store.ts"

/** The channel of updates that are not handled yet. */
export const inChannel = (channel: string) => `${channel}-in`

/** The attempts at an update that kills the process. Other failures are given up earlier. */
const MAX_ATTEMPTS = 30

/** Stores updates as deliveries under their own ids together with the next offset: all or nothing. */
export async function admit(
  tx: Store,
  { channel, bot, batch, nowMs }: { channel: Channel; bot: string; batch: readonly RawUpdate[]; nowMs: number },
): Promise<void> {
  for (const update of batch) {
    const lane = laneOf(channel, update.raw)
    if (lane !== undefined) await put(tx, { bot, update, lane, channel: inChannel(channel.id), nowMs })
  }
  // The highest id, not the last: after a jump to lower ids the messenger repeats the rest, and none is lost.
  await tx.bots.moveOffset(bot, Math.max(...batch.map(({ updateId }) => updateId)) + 1, nowMs)
}

async function put(
  tx: Store,
  request: { bot: string; update: RawUpdate; lane: string; channel: string; nowMs: number },
): Promise<void> {
  const { bot, update, lane, channel, nowMs } = request
  const { updateId, raw } = update
  const digest = createHash("sha256").update(JSON.stringify(raw)).digest("hex").slice(0, 16)
  const payload: AdmittedUpdate = { bot, updateId, raw, digest }
  const delivery = { key: `${bot}:${updateId}`, lane, channel, payload, repeatable: true, maxAttempts: MAX_ATTEMPTS }
  if (await tx.deliveries.enqueue(delivery, nowMs)) return
  // Ids restart after a quiet week: the same id may be another update.
  const before = await tx.deliveries.byKey(delivery.key)
  if (before?.payload.digest !== digest)
    await tx.deliveries.enqueue({ ...delivery, key: `${delivery.key}:${digest}` }, nowMs)
}

/** One lane per place; a button press does not wait for a file download. Undefined for irrelevant updates. */
function laneOf(channel: Channel, raw: unknown): string | undefined {
  try {
    const incoming = channel.read(raw)
    if (!incoming) return undefined
    const { chatId, threadId } = incoming.place
    return `in:${chatId}:${threadId ?? 0}${incoming.kind === "press" ? "!press" : ""}`
  } catch {
    // The handler reads it again and settles it.
    return "in:unreadable"
  }
}
