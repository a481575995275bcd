import type { Delivery } from "../../domain/delivery.ts"
import type { Outgoing } from "../../domain/outgoing.ts"

/** How far a delivery is. Stored in its payload, so that after a crash only the part in progress is repeated. */
export interface Progress {
  /** Sent alone, merged with others, with them as a file, or as the beginning of a progress message. */
  as: "one" | "merged" | "file" | "progress"
  /** Others of its lane that are sent with it. */
  with: number[]
  /** Parts that have arrived. */
  done: number
  /** Set before the call and cleared after it: set after a crash, the part may have arrived. */
  isUnderWay: boolean
  /** In progress is the file of the progress message that it ends. */
  isProgressFile: boolean
  /** How many attempts of the next part are unconfirmed. */
  unconfirmed: number
  /** Formatted, plain, as a file: each where the one before was rejected. */
  form: 0 | 1 | 2
  /** How often the topic was missing. */
  gone: number
  /** The team's shared thread is closed or gone: it goes to the chat itself. */
  isOutside: boolean
}

export const AT_FIRST: Progress = {
  as: "one",
  with: [],
  done: 0,
  isUnderWay: false,
  isProgressFile: false,
  unconfirmed: 0,
  form: 0,
  gone: 0,
  isOutside: false,
}

/** It may have arrived: repeat it, marked as such, without a limit. A lost message is worse than a marked repeat. */
export const notConfirmed = ({ unconfirmed }: Progress): Partial<Progress> => ({
  isUnderWay: false,
  unconfirmed: unconfirmed + 1,
})

/** Not tried yet, so it may be coalesced. */
export const isFresh = ({ done, isUnderWay, unconfirmed, form }: Progress) =>
  done === 0 && !isUnderWay && unconfirmed === 0 && form === 0

/** Rows of an earlier version use other names. */
export function progressOf({ payload }: Pick<Delivery, "payload">): Progress {
  const { fold, isTrailFile, doubts, ...progress } = (payload.progress ?? {}) as Partial<Progress> & EarlierProgress
  const as = fold === "trail" ? ("progress" as const) : fold
  const renamed = {
    ...(as && { as }),
    ...(isTrailFile && { isProgressFile: true }),
    ...(doubts && { unconfirmed: doubts }),
  }
  return { ...AT_FIRST, ...renamed, ...progress }
}

interface EarlierProgress {
  fold?: "one" | "merged" | "file" | "trail"
  isTrailFile?: boolean
  doubts?: number
}

export function outgoingOf({ payload }: Pick<Delivery, "payload">): Outgoing {
  const { progress: _, ...outgoing } = payload
  return { ...outgoing, kind: EARLIER_KINDS[outgoing.kind as string] ?? outgoing.kind } as unknown as Outgoing
}

const EARLIER_KINDS: Record<string, Outgoing["kind"]> = { trail: "progress_end", card: "approval" }

/** What remains once it is sent: ids and numbers, no text. */
export function withoutWords(payload: Record<string, unknown>): Record<string, unknown> {
  const { body: _, file: __, buttons: ___, why: ____, progress: _____, ...rest } = payload
  return rest
}
