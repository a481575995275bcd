import type { Delivery } from "../../domain/delivery.ts"
import type { Outgoing } from "../../domain/outgoing.ts"

/** How far a delivery is. It is kept in its payload, so that after a crash no part is said again but the one under way. */
export interface Progress {
  /** What it is sent as: on its own, merged with others, with them as a file, or as the beginning of a progress message. */
  as: "one" | "merged" | "file" | "progress"
  /** Others of its lane that go with it. */
  with: number[]
  /** Parts that have arrived. */
  done: number
  /** Written before the call and taken back after it: where it stands after a crash, it may have arrived. */
  isUnderWay: boolean
  /** What is under way is not a part of it, but the file of the progress message that it ends. */
  isProgressFile: boolean
  /** How often it is not known whether the part that is next has arrived already. */
  unconfirmed: number
  /** As it is, without marks, as a file: each where the one before was refused. */
  form: 0 | 1 | 2
  /** How often it was said that the topic is not there. */
  gone: number
  /** The thread that its team's sessions share is closed or gone: it goes to the chat itself. */
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

/**
 * It may have arrived: it is said again, and says so. However often that is: a message that is lost is worse than one that is
 * there twice and says so, and the pause between two attempts grows.
 */
export const notConfirmed = ({ unconfirmed }: Progress): Partial<Progress> => ({
  isUnderWay: false,
  unconfirmed: unconfirmed + 1,
})

/** Nothing of it was tried yet, so that it may still be put together with others. */
export const isFresh = ({ done, isUnderWay, unconfirmed, form }: Progress) =>
  done === 0 && !isUnderWay && unconfirmed === 0 && form === 0

/** Rows of an earlier version have other names in them. */
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

/** What is left of it when it was said: ids and numbers, no words. */
export function withoutWords(payload: Record<string, unknown>): Record<string, unknown> {
  const { body: _, file: __, buttons: ___, why: ____, progress: _____, ...rest } = payload
  return rest
}
