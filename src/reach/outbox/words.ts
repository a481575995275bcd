import type { ChannelCan, ChannelPost } from "../../domain/channel.ts"
import { plain, type RichText } from "../../domain/rich-text.ts"
import type { Part } from "./rendering.ts"

export const REPEAT_MARK = "↻ may be a repeat"

/** The part as it is sent: in the form that is still to be tried, and saying that it may be a repeat. */
export function postOf(part: Part, can: ChannelCan, how: { form: 0 | 1 | 2; isRepeat: boolean }): ChannelPost {
  const { buttons, isSilent } = part
  const around = { isSilent, ...(buttons ? { buttons } : {}) }
  const body = how.isRepeat ? joined([plain(REPEAT_MARK), part.body], "\n") : part.body
  if (part.file) {
    const words = how.form === 0 ? body : plain(how.form === 1 ? body.text : how.isRepeat ? REPEAT_MARK : "")
    return { ...around, file: part.file, body: cutBody(words, can.maxCaptionUnits) }
  }
  const isTooLong = body.text.length > can.maxTextUnits
  if (how.form < 2 && !isTooLong) return { ...around, body: how.form === 0 ? body : plain(body.text) }
  return {
    ...around,
    body: plain(how.isRepeat ? REPEAT_MARK : ""),
    file: { name: "message.md", bytes: Buffer.from(part.body.text) },
  }
}

/** One text of several, each with its marks where its words are. */
export function joined(bodies: readonly RichText[], between: string): RichText {
  let text = ""
  const marks: RichText["marks"][number][] = []
  for (const [index, body] of bodies.entries()) {
    if (index > 0) text += between
    for (const mark of body.marks) marks.push({ ...mark, offset: mark.offset + text.length })
    text += body.text
  }
  return { text, marks }
}

/** Never in the middle of a surrogate pair. */
export function cutText(text: string, units: number): string {
  if (text.length <= units) return text
  const isHighHalf = (text.charCodeAt(units - 2) & 0xfc00) === 0xd800
  return `${text.slice(0, isHighHalf ? units - 2 : units - 1)}…`
}

export function cutBody(body: RichText, units: number): RichText {
  if (body.text.length <= units) return body
  const text = cutText(body.text, units)
  const marks = body.marks
    .filter(({ offset }) => offset < text.length)
    .map((mark) => ({ ...mark, length: Math.min(mark.length, text.length - mark.offset) }))
  return { text, marks }
}
