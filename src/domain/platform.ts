import type { Capture } from "./capture.ts"

/** A kind of coding agent: where it keeps its conversations and how they are read. One adapter, one file, one contract suite. */
export interface Platform {
  id: string
  label: string
  /** The newest version whose records this adapter is known to read, as the agent counts; a month where it does not say. */
  verified: string
  /** Differences are stated here, never asked by id. */
  can: PlatformCan
  /** What it calls itself as an MCP client, where that was seen; written as in `KnownClient`. */
  clientNames?: readonly string[]
  /** The folders in which it may keep conversations on this machine. They need not exist. */
  places(machine: Machine): SourcePlace[]
  /** Where it keeps conversations inside a project's own folder; asked for every known project. */
  projectPlaces?(projectDir: string): SourcePlace[]
  /** Claims a file found in a place; undefined for files that hold no conversation. */
  claim(file: FoundFile): Claim | undefined
  /** How a person continues a session in the agent itself. */
  resume?(session: { nativeId: string; projectPath: string | null }): ResumeCommand
}

export interface PlatformCan {
  /** Reports changes without being polled. */
  hooks: boolean
  /** Can go on with an old session by its id. */
  resume: boolean
  /** Keeps the times of single turns. */
  times: boolean
  /** Nobody is behind its sessions: agents write them as logs, under ids of their own choice. */
  logs?: true
}

/** Passed in, so that every system's paths can be tested on any of them. */
export interface Machine {
  os: "linux" | "darwin" | "win32"
  homeDir: string
  env: Record<string, string | undefined>
}

export interface SourcePlace {
  dir: string
  /** How many folders deep files can lie; 0 is the folder itself. */
  depth: number
  /** The project that the place is in. Whoever wrote the project made its links, and none of them is followed. */
  within?: string
}

export interface FoundFile {
  path: string
  /** From the place's folder, with forward slashes. */
  relative: string
  place: SourcePlace
}

export interface Claim {
  /** Names the source. A file of its own has its path; several files, or two forms of one file, share a name. */
  key: string
  /** All files whose change means that there is something new; the claimed one if absent. */
  files?: string[]
  reader: SourceReader
}

export type SourceReader = LinesReader | WholeReader | DatabaseReader

/** A file that grows by lines. It is read in bytes, from where the last reading ended. */
export interface LinesReader {
  mode: "lines"
  compression?: "zstd"
  /** What the reader must remember from line to line; it is kept with the offset, so it must be JSON. */
  begin(path: string): LineState
  /** Throws on a line that cannot be read: it is counted and stepped over. May change `state`. */
  line(line: Buffer, state: LineState, at: { offset: number }): Capture[]
}

export type LineState = Record<string, unknown>

/** A file (or a few) that is rewritten each time: read whole and compared with the last read. */
export interface WholeReader {
  mode: "whole"
  read(path: string): Promise<Capture[]>
}

/** Another program's database. Opened so that not a byte in its folder changes. */
export interface DatabaseReader {
  mode: "database"
  /** Other files whose change means that there is something new, such as the write-ahead log. */
  watch(path: string): string[]
  /** Everything changed since the cursor, and the next cursor; null reads all. Sessions come newest first. */
  read(path: string, cursor: unknown): Promise<{ captures: Iterable<Capture>; cursor: unknown }>
  /** The same of one session, without a look at the others. */
  only?(path: string, sessionId: string): Iterable<Capture>
}

export interface ResumeCommand {
  argv: string[]
  cwd: string | null
}

/** As a person types it. */
export function commandLine({ argv, cwd }: ResumeCommand): string {
  const words = argv.map(shellWord).join(" ")
  return cwd === null ? words : `cd ${shellWord(cwd)} && ${words}`
}

export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
