import type { ChannelCan, ChannelPost } from "../../domain/channel.ts"
import { plain, type RichText } from "../../domain/rich-text.ts"
import type { RenderedPart } from "./rendering.ts"

export const REPEAT_MARK = "↻ may be a repeat"

/** Left free in every message, for whose it is and for that it may be a repeat. */
export const HEAD_UNITS = 160
const LABEL_UNITS = 100

/** Where there are no topics: whose message it is. */
export function labelOf(name: string): RichText {
  const text = `▸ ${cutText(name, LABEL_UNITS)}`
  return { text, marks: [{ kind: "bold", offset: 0, length: text.length }] }
}

export interface PostOptions {
  form: 0 | 1 | 2
  isRepeat: boolean
  label?: RichText | undefined
}

/** The part as it is sent: in the form that is still to be tried, saying whose it is and that it may be a repeat. */
export function postOf(part: RenderedPart, can: ChannelCan, how: PostOptions): ChannelPost {
  const { buttons, isSilent } = part
  const around = { isSilent, ...(buttons ? { buttons } : {}) }
  const head = [...(how.label ? [how.label] : []), ...(how.isRepeat ? [plain(REPEAT_MARK)] : [])]
  const body = joined([...head, part.body], "\n")
  const above = joined(head, "\n").text
  if (part.file) {
    const words = how.form === 0 ? body : plain(how.form === 1 ? body.text : above)
    return { ...around, file: part.file, body: cutBody(words, can.maxCaptionUnits) }
  }
  const isTooLong = body.text.length > can.maxTextUnits
  if (how.form < 2 && !isTooLong) return { ...around, body: how.form === 0 ? body : plain(body.text) }
  return {
    ...around,
    body: plain(above),
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
