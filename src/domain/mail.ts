import type { AgentConsole } from "./agent-console.ts"
import type { Delivery } from "./delivery.ts"
import { MAIL_NOTE, nameOnOneLine, OWNER_NOTE, quoteLines } from "./framing.ts"
import { promptHash } from "./ids.ts"
import { messageOf, type Sender } from "./message.ts"

type Framed = Pick<Delivery, "key" | "payload">

/** Longer texts than this were seen to be cut on the way through a background hook. */
const MAX_WAKE_CHARS = 20_000

/** What is typed for it. The owner's words are the owner's; what others say is framed as mail. */
export function typedText(delivery: Delivery): string {
  const { sender, text } = messageOf(delivery)
  return sender.kind === "owner" ? text : mailText(delivery)
}

/** What a hook hands over for it, or its agent fetches. The agent must not take it for its user, whoever sent it. */
export function mailText(delivery: Framed): string {
  const note = isMail(delivery) ? MAIL_NOTE : OWNER_NOTE
  return `${header(delivery)}\n${quoteLines(messageOf(delivery).text)}\n\n${note}`
}

export const isTooLongToWake = (delivery: Framed) => mailText(delivery).length > MAX_WAKE_CHARS

/** Only what others say may come by a hook, or be fetched by an agent that can be typed to. */
export const isMail = (delivery: Pick<Delivery, "payload">) => messageOf(delivery).sender.kind !== "owner"

const header = (delivery: Framed) =>
  `[Message ${delivery.key} from ${senderName(messageOf(delivery).sender)}, via Throughline]`

const senderName = ({ kind, name }: Sender) => nameOnOneLine(name) || kind

/** The hash that the prompt hook tells of this message, if it is pasted. */
export function pastedHash(
  delivery: Delivery,
  platform: string,
  consoles: readonly AgentConsole[],
): string | undefined {
  const text = typedText(delivery)
  const isCommand = messageOf(delivery).isCommand === true
  const prepared = consoles.find((one) => one.platform === platform)?.prepare(text, { isCommand }) ?? { text }
  return "text" in prepared ? promptHash(prepared.text) : undefined
}
