import type { ForgetFilter } from "./forgetting.ts"
import type { SessionId } from "./ids.ts"
import type { Answer, Pair, PairSession } from "./pair.ts"
import type { AuditEntry, KeptWords, Permission, PermissionAnswers, PermissionState } from "./permission.ts"

/** The part of the Store that is about teams which ask each other. */
export interface Pairs {
  /** The one that is there, or this one: however many make it at once, there is one. */
  ensure(pair: Pair): Promise<Pair>
  byId(id: string): Promise<Pair | undefined>
  list(filter?: { team?: string }): Promise<Pair[]>
  update(
    id: string,
    change: Partial<Pick<Pair, "nativeId" | "isMade" | "madeAtMs" | "status" | "platform" | "lastUsedAtMs">>,
  ): Promise<void>
  /** One more message, now. */
  count(id: string, atMs: number): Promise<void>
  addSession(session: PairSession): Promise<void>
  /** Oldest first. */
  sessions(pairId: string): Promise<PairSession[]>
  ofNative(nativeId: string): Promise<Pair | undefined>
  /** Those of them that are, or were, the session of a pair. */
  taken(nativeIds: readonly string[]): Promise<string[]>
  /** Under one message there is one answer; the first stands. */
  answer(answer: Answer): Promise<void>
  answerTo(messageId: string): Promise<Answer | undefined>
  answers(filter: { pairId?: string; sinceMs?: number }): Promise<Answer[]>
  /** Those that hold the text, or were given in that time, by these sessions. */
  forgetAnswers(filter: ForgetFilter & { nativeIds?: readonly string[] }): Promise<number>
  /** Those that were given before then; what was said stays in the archive. */
  dropAnswers(beforeMs: number): Promise<number>
}

export interface Permissions {
  ask(permission: Permission): Promise<void>
  byId(id: string): Promise<Permission | undefined>
  /** True for the first who answers. */
  decide(
    id: string,
    decision: {
      state: Exclude<PermissionState, "waiting">
      always?: number | null
      reason?: string | null
      by: string
      atMs: number
      kept?: KeptWords
    },
  ): Promise<boolean>
  /** Those of these sessions, or that hold the text, or of that time; the audit keeps who decided, without the words. */
  forget(filter: { sessionIds: readonly SessionId[] } | Omit<ForgetFilter, "projectId">): Promise<number>
  /** What was chosen so far; false when it waits no longer. */
  note(id: string, answers: PermissionAnswers): Promise<boolean>
  /** True for the one hook that takes what was decided to its agent. */
  take(id: string, atMs: number): Promise<boolean>
  /** True when no hook has taken what was decided: it is stale, and none will. */
  withdraw(id: string, reason: string, atMs: number): Promise<boolean>
  /** Those that were decided before then; the audit stays. */
  dropDecided(beforeMs: number): Promise<number>
  waiting(): Promise<Permission[]>
  /** Decided, and not taken to the hook that asked. */
  untaken(home: string): Promise<Permission[]>
  list(filter: { last: number }): Promise<Permission[]>
}

export interface Audit {
  add(entry: Omit<AuditEntry, "seq">): Promise<void>
  /** For what may be handed over again after a crash: an entry that is there already, word for word, stays the only one. */
  addOnce(entry: Omit<AuditEntry, "seq">): Promise<void>
  /**
   * For what strangers can cause as often as they like: one entry for each of them and window, with a count and the times
   * of the first and the last; past so many of them, one entry for all others.
   */
  tally(entry: Omit<AuditEntry, "seq">, filter: { windowMs: number; most: number }): Promise<void>
  /** Newest first. */
  list(filter: { limit: number; beforeSeq?: number }): Promise<AuditEntry[]>
}
