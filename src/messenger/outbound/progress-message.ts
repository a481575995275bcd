import { topicLane } from "../../domain/outgoing.ts"
import { cutText, plain, type RichText } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { ProgressMessage } from "../../domain/topic.ts"
import { toShow } from "../to-show.ts"
import type { RenderedPart, Rendering } from "./rendering.ts"
import { REPEAT_MARK } from "./words.ts"

/** Longer lines are cut; the file has them whole. */
const MOST_OF_A_LINE = 500

/** The last lines, as many as fit, and how many came before. Undefined where none is left. */
export async function progressBody(
  { seqs, isRepeat }: Pick<ProgressMessage, "seqs" | "isRepeat">,
  line: Rendering["line"],
  maxUnits: number,
): Promise<{ body: RichText; cut: number } | undefined> {
  const mark = isRepeat ? `${REPEAT_MARK}\n` : ""
  const room = maxUnits - mark.length - earlier(seqs.length).length
  const shown: string[] = []
  let units = 0
  let left = seqs.length
  for (; left > 0; left--) {
    const text = await line(seqs[left - 1]!)
    if (text === undefined) continue
    const short = cutText(text, MOST_OF_A_LINE)
    if (units + short.length + 1 > room) break
    units += short.length + 1
    shown.unshift(short)
  }
  if (shown.length === 0) return undefined
  return { body: plain(`${mark}${left > 0 ? earlier(left) : ""}${shown.join("\n")}`), cut: left }
}

/** All of its lines as a file, sent when it ends. */
export async function progressFile(
  { seqs, cut }: ProgressMessage,
  line: Rendering["line"],
): Promise<RenderedPart | undefined> {
  const lines: string[] = []
  for (const seq of seqs) {
    const text = await line(seq)
    if (text !== undefined) lines.push(text)
  }
  if (lines.length === 0) return undefined
  return {
    body: plain(`All ${lines.length} tools, with the ${cut} that are not in the message above`),
    file: { name: "tools.txt", bytes: Buffer.from(`${lines.join("\n")}\n`) },
    isSilent: true,
  }
}

/** Without a tool for so long, the message has ended. */
const IDLE_MS = 60_000

/** Sends the file of lines that did not fit, also when no other message follows. */
export async function endIdleProgress(store: Store, channelId: string, home: string, nowMs: number): Promise<void> {
  const open = await store.topics.list({ channel: channelId, states: ["open"] })
  for (const topic of open) {
    if (
      topic.home !== home ||
      !topic.progressMessage ||
      topic.progressMessage.cut === 0 ||
      topic.usedAtMs > nowMs - IDLE_MS
    )
      continue
    const payload = { kind: "progress_end" as const, topicId: topic.id }
    const key = `tg:trail:${topic.id}:${topic.progressMessage.messageId}:${topic.progressMessage.seqs.length}`
    await store.deliveries.enqueue(toShow(key, topicLane(topic), channelId, payload), nowMs)
  }
}

const earlier = (count: number) => `… ${count} earlier\n`
