import type { Delivery } from "../../domain/delivery.ts"
import { BUTTON, type OutgoingButton } from "../../domain/outgoing.ts"
import { shownReason } from "../../domain/reason.ts"
import { plain, type RichText } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { WaitNotice } from "../../domain/wait-notice.ts"
import { messagesOfNotice } from "../notice-messages.ts"
import { firstLine } from "./clean.ts"
import { spanOf } from "./notes.ts"

export interface ShownWait {
  body: RichText
  buttons?: OutgoingButton[][]
  isWaiting: boolean
}

/** The state of a notice's messages; undefined where they are gone. */
export async function waitNotice(
  store: Pick<Store, "waitNotices" | "deliveries">,
  id: string,
  redact: (text: string) => string,
): Promise<ShownWait | undefined> {
  const notice = await store.waitNotices.byId(id)
  const messages = notice ? await messagesOfNotice(store, notice) : []
  if (!notice || messages.length === 0) return undefined
  const waiting = messages.filter(({ state }) => state === "queued")
  const isWaiting = waiting.length > 0
  const words = messages.length === 1 ? ofOne(messages[0]!, notice) : ofSome(messages, waiting.length, notice)
  const button = { label: "Resume", data: `${BUTTON.resume}:${notice.sessionId}` }
  return {
    body: plain(firstLine(redact(words), MOST_CHARS)),
    ...(isWaiting && notice.canResume ? { buttons: [[button]] } : {}),
    isWaiting,
  }
}

const MOST_CHARS = 600

function ofOne({ state, outcome, createdAtMs }: Delivery, { words, endedAtMs }: WaitNotice): string {
  const why = shownReason(outcome)
  switch (state) {
    case "queued":
      return `⏳ ${words}`
    case "cancelled":
      return "Cancelled."
    case "failed":
    case "expired":
      return `⚠️ Not delivered${why === null ? "." : `: ${why}.`}`
    case "uncertain":
      return `⚠️ It may have been delivered${why === null ? "." : `: ${why}.`}`
    default:
      return `Delivered after ${spanOf((endedAtMs ?? createdAtMs) - createdAtMs)}.`
  }
}

function ofSome(messages: readonly Delivery[], waiting: number, { words }: WaitNotice): string {
  const all = messages.length
  const count = (...states: Delivery["state"][]) => messages.filter(({ state }) => states.includes(state)).length
  const [failed, unsure, takenBack] = [count("failed", "expired"), count("uncertain"), count("cancelled")]
  const delivered = all - waiting - failed - unsure - takenBack
  if (waiting === all) return `⏳ ${all} messages wait for this session. ${words}`
  if (delivered === all) return `Delivered: all ${all} messages.`
  const parts = [
    ...(delivered > 0 ? [`${delivered} delivered`] : []),
    ...(failed > 0 ? [`${failed} not delivered`] : []),
    ...(unsure > 0 ? [`${unsure} may have been delivered`] : []),
    ...(takenBack > 0 ? [`${takenBack} cancelled`] : []),
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? "waits" : "wait"} for this session`] : []),
  ]
  return `${waiting > 0 ? "⏳ " : ""}Of ${all} messages: ${parts.join(", ")}.${waiting > 0 ? ` ${words}` : ""}`
}
