/** One file or database of a platform, and how far it was read. */
export interface Source {
  id: number
  platform: string
  key: string
  path: string
  mode: "lines" | "whole" | "database"
  /** What the file looked like when it was last read; another look means that there is something to read. */
  inode: string
  sizeBytes: number
  mtimeMs: number
  /** Lines: just past the last whole line, and the hashes that prove that the file before it is still the same. */
  offset: number
  headHash: string
  tailHash: string
  /** What the reader remembers: a LineState, or a database's cursor. */
  memory: unknown
  readAtMs: number
  lines: number
  skipped: Record<string, number>
  /** Records whose kind the adapter does not know, and lines that could not be read at all. */
  unknown: number
  unreadable: number
  trouble: string | null
}

export type NewSource = Omit<Source, "id">
export type SourceLook = Pick<Source, "platform" | "key" | "path" | "inode" | "sizeBytes" | "mtimeMs">

export interface SourceSummary {
  platform: string
  sources: number
  sessions: number
  turns: number
  sizeBytes: number
  lastReadAtMs: number | null
  skipped: Record<string, number>
  unknown: number
  unreadable: number
  troubles: { path: string; trouble: string }[]
}
