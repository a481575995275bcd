import type { SessionId } from "./ids.ts"

export const PERMISSION_STATES = ["waiting", "allowed", "denied", "timed_out", "stale"] as const
export type PermissionState = (typeof PERMISSION_STATES)[number]

/** Something that an agent may do only when a person says so. */
export interface Permission {
  id: string
  /** Names the daemon's home in which it waits: when that one is started again, nobody waits any more. */
  home: string
  /** Who asks, in words: a pair, or a session. */
  asker: string
  team: string | null
  sessionId: SessionId | null
  tool: string
  title: string
  /** Whole, as it would be run; once it is decided, without secrets. */
  input: Record<string, unknown>
  suggestions: { label: string }[]
  state: PermissionState
  /** Which suggestion was chosen with it, by its place. */
  always: number | null
  reason: string | null
  answeredBy: string | null
  askedAtMs: number
  answeredAtMs: number | null
  expiresAtMs: number
}

/** What stays of its words once nobody has to judge them: no secrets. */
export type KeptWords = Pick<Permission, "title" | "input" | "suggestions">

/** Who decided what, and when: nothing in it is changed, but words that are to be forgotten are taken out. */
export interface AuditEntry {
  seq: number
  atMs: number
  who: string
  what: string
  data: Record<string, unknown>
}
