import type { SessionId } from "./ids.ts"

/** A numbered, branchable step of reasoning. `branchId` is null on the main line. */
export interface Thought {
  seq: number
  sessionId: SessionId
  branchId: string | null
  number: number
  text: string
  totalThoughts: number
  nextThoughtNeeded: boolean
  isRevision: boolean
  revisesThought: number | null
  branchFromThought: number | null
  renumberedFrom: number | null
  createdAtMs: number
}

export type NewThought = Omit<Thought, "seq"> & { key: string | null }
