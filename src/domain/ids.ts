import { createHash, randomUUID } from "node:crypto"

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type ProjectId = Branded<"project">
export type SessionId = Branded<"session">

/** The only place where ids are made. */
export const newProjectId = () => randomUUID() as ProjectId
export const newSessionId = () => randomUUID() as SessionId
export const newKey = () => randomUUID()

/** The same words in the same session are the same exchange, whether they come by the file or by the tool. */
export function exchangeKey(user: string, ai: string): string {
  return createHash("sha1").update(user).update("\0").update(ai).digest("base64url")
}
