import { randomUUID } from "node:crypto"

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type ProjectId = Branded<"project">
export type SessionId = Branded<"session">

/** The only place where ids are made. */
export const newProjectId = () => randomUUID() as ProjectId
export const newSessionId = () => randomUUID() as SessionId
export const newKey = () => randomUUID()
