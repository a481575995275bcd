import { createHash } from "node:crypto"
import type { AdmittedUpdate, Channel, RawUpdate } from "../../domain/channel.ts"
import type { Store } from "../../domain/store.ts"

/** What people did in a chat and nobody has looked at yet: deliveries on this channel. */
export const inChannel = (channel: string) => `${channel}-in`

/** An update that ends the process is looked at so often. What fails in another way is given up earlier. */
const MAX_ATTEMPTS = 30

/** Updates become deliveries under their own numbers, and the next question begins after them: all or nothing. */
export async function admit(
  tx: Store,
  { channel, bot, batch, nowMs }: { channel: Channel; bot: string; batch: readonly RawUpdate[]; nowMs: number },
): Promise<void> {
  for (const update of batch) {
    const lane = laneOf(channel, update.raw)
    if (lane !== undefined) await put(tx, { bot, update, lane, channel: inChannel(channel.id), nowMs })
  }
  // The highest and not the last: after a jump to lower numbers the messenger hands out again what that leaves, and none is lost.
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
  // Numbers begin anew after a quiet week: one that was given before may be another update.
  const before = await tx.deliveries.byKey(delivery.key)
  if (before?.payload.digest !== digest)
    await tx.deliveries.enqueue({ ...delivery, key: `${delivery.key}:${digest}` }, nowMs)
}

/** In order for each place; a button press does not wait behind a file that is fetched. Undefined for what says nothing to us. */
function laneOf(channel: Channel, raw: unknown): string | undefined {
  try {
    const incoming = channel.read(raw)
    if (!incoming) return undefined
    const { chatId, threadId } = incoming.place
    return `in:${chatId}:${threadId ?? 0}${incoming.kind === "press" ? "!press" : ""}`
  } catch {
    // It is looked at once more by who handles it, and settled there.
    return "in:unreadable"
  }
}
