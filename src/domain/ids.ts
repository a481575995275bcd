import { createHash, randomUUID } from "node:crypto"

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type ProjectId = Branded<"project">
export type SessionId = Branded<"session">

/** The only place where ids are made. */
export const newProjectId = () => randomUUID() as ProjectId
export const newSessionId = () => randomUUID() as SessionId
export const newKey = () => randomUUID()

/** A UUID of version 7: those made later sort after those made before. */
export function newTimedId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** The same words in the same session are the same exchange, whether they come by the file or by the tool. */
export function exchangeKey(user: string, ai: string): string {
  return createHash("sha1").update(user).update("\0").update(ai).digest("base64url")
}
