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

/**
 * An agent's id of a session, bound to a project: ids in a file that a repository brings are whatever its author chose,
 * and must not lead to another project's session, nor to what agents logged themselves in this one.
 */
export function scopedId(nativeId: string, rootUri: string, by: "agent" | "repository"): string {
  const scope = createHash("sha256").update(`${by}\n${rootUri}`).digest("hex").slice(0, 12)
  return `${nativeId}@${scope}`
}

export const withoutScope = (nativeId: string) => nativeId.replace(/@[0-9a-f]{12}$/, "")

/** The same words in the same session are the same exchange, whether they come by the file or by the tool. */
export function exchangeKey(user: string, ai: string): string {
  return createHash("sha1").update(user).update("\0").update(ai).digest("base64url")
}

/** Of a message: the same under the sender's own key, so that a second one under it is refused. */
export function newMessageId(team: string, key?: string): string {
  const name = key === undefined ? randomUUID() : `${team}\0${key}`
  return `m-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`
}

/** Of a permission: never one that was there before, whose answer would count for this one. */
export const newPermissionId = () => `q-${randomUUID().replaceAll("-", "").slice(0, 16)}`

/** Of one that a hook asks for, and asks for again under the same key. */
export const permissionIdOf = (home: string, key: string) =>
  `q-${createHash("sha256").update(`${home}\0${key}`).digest("hex").slice(0, 16)}`

/** Equal for texts that a person would call the same, to the same team. */
export const fingerprintOf = (team: string, text: string) =>
  createHash("sha256")
    .update(`${team}\0${normalisedPrompt(text)}`)
    .digest("hex")

/** What was pasted, and what the agent's prompt hook says of it: on the way blanks, accents and what is not seen change. */
export const promptHash = (text: string) => createHash("sha256").update(normalisedPrompt(text)).digest("hex")

const normalisedPrompt = (text: string) =>
  text
    .replace(/\r\n|[\u2028\u2029]/g, "\n")
    .replaceAll("\t", "    ")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFC")
    .trim()

/** Under this the agent keeps the prompt that a message became, where it takes a UUID from us: always the same one. */
export function promptUuid(messageId: string): string {
  const hex = createHash("sha256").update(`prompt\0${messageId}`).digest("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
