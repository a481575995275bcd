import type { ChannelPost } from "../../domain/channel.ts"
import type { Outgoing, OutgoingButton } from "../../domain/outgoing.ts"
import type { RichText } from "../../domain/rich-text.ts"

/** One message. */
export interface RenderedPart {
  body: RichText
  buttons?: OutgoingButton[][]
  /** With the body as its caption. */
  file?: NonNullable<ChannelPost["file"]>
  isSilent: boolean
}

/** Renders deliveries when they are sent. Deterministic, so that sending can be continued. */
export interface Rendering {
  /** Undefined where nothing is left to send: it was forgotten, or is over. */
  parts(outgoing: Outgoing): Promise<RenderedPart[] | undefined>
  /** A tool's line in the progress message. */
  line(seq: number): Promise<string | undefined>
}
