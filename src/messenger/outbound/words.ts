import type { ChannelCan, ChannelPost } from "../../domain/channel.ts"
import { cutText, plain, type RichText } from "../../domain/rich-text.ts"
import { concat, slice } from "../render/marks.ts"
import type { RenderedPart } from "./rendering.ts"

export const REPEAT_MARK = "↻ may be a repeat"

/** Reserved in each message for its session's name and the mark of a possible repeat. */
export const HEAD_UNITS = 160
const LABEL_UNITS = 100

/** The session's name, where there are no topics. */
export function labelOf(name: string): RichText {
  const text = `▸ ${cutText(name, LABEL_UNITS)}`
  return { text, marks: [{ kind: "bold", offset: 0, length: text.length }] }
}

export interface PostOptions {
  form: 0 | 1 | 2
  isRepeat: boolean
  label?: RichText | undefined
}

/** The part in the form that is next to try, with its session's name and the mark of a possible repeat. */
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

/** Several texts as one. */
export const joined = (bodies: readonly RichText[], between: string): RichText =>
  concat(...bodies.flatMap((body, index) => (index > 0 ? [plain(between), body] : [body])))

function cutBody(body: RichText, units: number): RichText {
  if (body.text.length <= units) return body
  const text = cutText(body.text, units)
  return { ...slice(body, 0, text.length), text }
}
