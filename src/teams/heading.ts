import type { Delivery } from "../domain/delivery.ts"
import { nameOnOneLine } from "../domain/framing.ts"
import { askOf, MAIN_THREAD } from "../domain/pair.ts"

/** The line above a question. It identifies the question in the agent's own records, even if our store is lost. */
export function headingOf(delivery: Pick<Delivery, "key" | "payload">): string {
  const { sender, toTeam, threadId } = askOf(delivery)
  const thread = threadId === MAIN_THREAD ? "" : ` in ${JSON.stringify(threadId)}`
  return `[Message ${delivery.key} from ${nameOnOneLine(sender)} to ${toTeam}${thread}, via Throughline]`
}

export interface Heading {
  messageId: string
  sender: string
  toTeam: string
  threadId: string
}

/** The first heading in the text. A message delivered to a person's session names no recipient, and so has none. */
export function headingIn(text: string): Heading | undefined {
  const { id, sender, to, thread } = HEADING.exec(text)?.groups ?? {}
  if (id === undefined) return undefined
  return {
    messageId: id,
    sender: sender!,
    toTeam: to!,
    threadId: thread === undefined ? MAIN_THREAD : unquoted(thread),
  }
}

const HEADING =
  /\[Message (?<id>m-[0-9a-f]{16}) from (?<sender>[^\]\n]+) to (?<to>[\p{L}\p{N}_-]+)(?: in (?<thread>"(?:[^"\\\n]|\\.)*"))?, via Throughline\]/u

function unquoted(thread: string): string {
  try {
    return String(JSON.parse(thread))
  } catch {
    return MAIN_THREAD
  }
}
