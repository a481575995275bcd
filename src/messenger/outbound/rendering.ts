import type { ChannelPost } from "../../domain/channel.ts"
import type { Outgoing, OutgoingButton } from "../../domain/outgoing.ts"
import type { RichText } from "../../domain/rich-text.ts"

/** One message of what is to be said. */
export interface RenderedPart {
  body: RichText
  buttons?: OutgoingButton[][]
  /** With the body as the words under it. */
  file?: NonNullable<ChannelPost["file"]>
  isSilent: boolean
}

/** Makes words of what is to be said, at the moment when it is sent. The same each time, so that it can be gone on with. */
export interface Rendering {
  /** Undefined where nothing is left to say: it was forgotten, or is over. */
  parts(outgoing: Outgoing): Promise<RenderedPart[] | undefined>
  /** A tool's line in the progress message. */
  line(seq: number): Promise<string | undefined>
}
