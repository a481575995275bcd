import type { ProjectId, SessionId } from "./ids.ts"
import type { SourceLook } from "./source.ts"

/** Deletes permanently, and keeps a hash so that it does not come back when the agent's file is read again. */
export interface Forgetting {
  of(platform: string, nativeSessionId: string): Promise<{ whole: boolean; turn(nativeTurnId: string): boolean }>
  session(id: SessionId, atMs: number): Promise<void>
  turns(seqs: number[], atMs: number): Promise<void>
  thoughts(seqs: number[]): Promise<void>
  matching(
    filter: ForgetFilter,
  ): Promise<{ turns: { seq: number; sessionId: SessionId }[]; thoughts: { seq: number; sessionId: SessionId }[] }>
  /** Titles made of what is gone, or holding the text, are made of what is left. */
  retitle(sessionIds: SessionId[], containing: string | undefined): Promise<void>
  /** Takes a text out of every column that could hold it, of one project or of everything. How many values changed. */
  word(text: string, projectId?: ProjectId): Promise<number>
  /** How many values that would be, beside turns and thoughts: titles, branches, messages, tasks, topics … */
  mentions(text: string, projectId?: ProjectId): Promise<number>
  /** Takes a text out of the names of sources whose files are gone. One that comes back is read as a new one. */
  names(text: string, sources: readonly SourceName[]): Promise<void>
  /** Takes a text out of the ids under which agents logged, except of these: files that are still there have their names. */
  loggedIds(text: string, platform: string, except: readonly string[]): Promise<void>
  /** What names and quotes these sessions in rows that outlive them. Before the sessions go. */
  traces(sessionIds: readonly SessionId[]): Promise<void>
  /** Those of them in which nothing is left. */
  emptied(sessionIds: SessionId[]): Promise<SessionId[]>
}

export type SourceName = Pick<SourceLook, "platform" | "key" | "path">

export interface ForgetFilter {
  containing?: string
  sinceMs?: number
  untilMs?: number
  projectId?: ProjectId
}
