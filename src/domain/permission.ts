import type { SessionId } from "./ids.ts"

export const PERMISSION_STATES = ["waiting", "allowed", "denied", "timed_out", "stale"] as const
export type PermissionState = (typeof PERMISSION_STATES)[number]

/** Something that an agent may do only when a person says so. */
export interface Permission {
  id: string
  /** The host and data directory of the daemon it waits in; stale once that daemon is restarted. */
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
  /** Who waits for the answer: a process of the daemon's own, gone with it, or a hook, which asks again after a restart. */
  via: "process" | "hook"
  /** What the agent asks to be told, where it is more than a yes or no. */
  questions: PermissionQuestion[]
  /** What was chosen so far. */
  answers: PermissionAnswers
  askedAtMs: number
  answeredAtMs: number | null
  /** When a hook took the answer to its agent. */
  takenAtMs: number | null
  expiresAtMs: number
}

export interface PermissionQuestion {
  /** Under which the agent takes the answer. */
  key: string
  text: string
  options: { label: string; detail?: string }[]
  /** Several of the options may be chosen. */
  isMany: boolean
  /** Other words than the options are an answer too. */
  isOpen: boolean
}

/** By the question's key: options by their labels, or other words. */
export type PermissionAnswers = Record<string, string[]>

export type Decision =
  /** `updatedInput` is run instead of what was asked for; refused where the agent cannot, or waits in another daemon. */
  | { kind: "allow"; reason?: string | undefined; updatedInput?: Record<string, unknown> | undefined }
  /** Allowed, with one of the rules that were offered, by its place; which one is clear if there is one only. */
  | { kind: "always"; which?: number | undefined; reason?: string | undefined }
  /** An answer to each of its questions. */
  | { kind: "answer"; answers: PermissionAnswers; reason?: string | undefined }
  /** With `interrupt` the agent's turn ends, where the agent can. */
  | { kind: "deny"; reason?: string | undefined; interrupt?: boolean | undefined }

/** What stays of its words once nobody has to judge them: no secrets. */
export type KeptWords = Pick<Permission, "title" | "input" | "suggestions" | "answers">

/** Who decided what, and when: nothing in it is changed, but words that are to be forgotten are taken out. */
export interface AuditEntry {
  seq: number
  atMs: number
  who: string
  what: string
  data: Record<string, unknown>
}
