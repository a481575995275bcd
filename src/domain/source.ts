import type { Origin } from "./origin.ts"

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
  /** How many lines were read; where it has none, how many records. */
  lines: number
  skipped: Record<string, number>
  /** Records whose kind the adapter does not know, and lines that could not be read at all. */
  unknown: number
  unreadable: number
  trouble: string | null
  /** Absent where it is not known yet. */
  origin?: Origin
}

/** Kinds of what is skipped because it is too much. People are told of them; other kinds hold nothing to keep. */
export const OVER_LIMIT = {
  line: "line over 128 MB",
  decompressed: "file cut at 1 GB decompressed",
  /** Its beginning and its end are kept. */
  turn: "turn over 16 MB, cut",
  /** In another program's database. */
  cell: "cell over 32 MB",
  metadata: "metadata over 4,000 characters",
} as const

export type NewSource = Omit<Source, "id">

/** The state of a source of which nothing was read. */
export const UNREAD = {
  ...{ inode: "", sizeBytes: 0, mtimeMs: 0, offset: 0, headHash: "", tailHash: "", memory: null },
  ...{ lines: 0, skipped: {}, unknown: 0, unreadable: 0, trouble: null },
} satisfies Partial<NewSource>

export type SourceLook = Pick<Source, "platform" | "key" | "path" | "inode" | "sizeBytes" | "mtimeMs">

/** Stands before a kind of skipped records that the adapter does not know. */
export const UNKNOWN_KIND = "unknown kind: "

/** Above this share, the agent writes a format that the adapter was not made for. */
const MOST_UNKNOWN_SHARE = 0.01

/** Whether to warn about an agent whose records are of unknown kinds. */
export function isUnfamiliar({ unknown, records }: { unknown: number; records: number }): boolean {
  return unknown > records * MOST_UNKNOWN_SHARE
}

/** All records of an agent that were read, whatever became of them. */
export function recordsOf({
  turns,
  skipped,
  unreadable,
}: Pick<SourceSummary, "turns" | "skipped" | "unreadable">): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, turns + unreadable)
}

/** The kinds that are not known, most frequent first. */
export function unknownKinds(skipped: Record<string, number>): string[] {
  const kinds = Object.entries(skipped).filter(([kind]) => kind.startsWith(UNKNOWN_KIND))
  return kinds.sort((a, b) => b[1] - a[1]).map(([kind]) => kind.slice(UNKNOWN_KIND.length))
}

export interface SourceSummary {
  platform: string
  sources: number
  sessions: number
  turns: number
  sizeBytes: number
  lastReadAtMs: number | null
  skipped: Record<string, number>
  unknown: number
  /** The same of the files that changed last, within a week. */
  recent: { unknown: number; records: number }
  unreadable: number
  troubles: { path: string; trouble: string }[]
}
