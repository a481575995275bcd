import type { SessionId } from "./ids.ts"

/** What a team's agent did, for those who ask what is new. Texts stay in the archive; a reply is named by its turn. */
export const UPDATE_TYPES = [
  "reply",
  "message_state",
  "announcement",
  "session_restart",
  "session_started",
  "session_ended",
] as const
export type UpdateType = (typeof UPDATE_TYPES)[number]

export interface Update {
  seq: number
  team: string
  /** One update under a key, however often it is noticed. */
  key: string
  type: UpdateType
  messageId: string | null
  sessionId: SessionId | null
  turnSeq: number | null
  data: Record<string, unknown>
  atMs: number
}

export type NewUpdate = Omit<Update, "seq">
