import type { Capture } from "../../domain/capture.ts"
import type { LineState, LinesReader, Machine, Platform } from "../../domain/platform.ts"
import { type Clock, nextTurn } from "../../lib/clock.ts"
import { type FoundSource, placesOf, scanPlace } from "../watch/scan.ts"
import { type OnSkipped, openBytes } from "./bytes.ts"

/** What a platform's own files say about a session now, independent of the archive and of file names. */
export interface OwnRecords {
  /** The folders in which it worked; undefined if no file contains it. Throws if files cannot be read. */
  dirsOf(platform: string, nativeId: string, options: RecordsQuery): Promise<string[] | undefined>
}

export interface RecordsQuery {
  /** The session existed by then: files not written since cannot contain it. */
  sinceMs: number
  /** Stops the search once it has worked in such a folder. */
  isEnough(dir: string): boolean
}

/** Many sessions are looked up at once, among tens of thousands of files. */
const KNOWN_MS = 5_000
/** File times and program clocks differ slightly. */
const SLACK_MS = 2_000

interface Deps {
  platforms: readonly Platform[]
  machine: Machine
  clock: Clock
}

export function makeOwnRecords({ platforms, machine, clock }: Deps): OwnRecords {
  const known = new Map<string, { sources: Promise<FoundSource[]>; atMs: number }>()
  const sourcesOf = (platform: Platform): Promise<FoundSource[]> => {
    const before = known.get(platform.id)
    if (before && clock.nowMs() - before.atMs < KNOWN_MS) return before.sources
    const sources = scan(platform, machine)
    known.set(platform.id, { sources, atMs: clock.nowMs() })
    return sources
  }

  return {
    async dirsOf(id, nativeId, { sinceMs, isEnough }) {
      const platform = platforms.find((one) => one.id === id)
      const sources = platform ? await sourcesOf(platform) : []
      // A file name is only a hint where to look first.
      const isNamed = ({ path }: FoundSource) => path.includes(nativeId)
      const isLate = ({ look }: FoundSource) => look.mtimeMs >= sinceMs - SLACK_MS
      const likely = sources.filter(isNamed)
      for (const source of [...likely, ...sources.filter((one) => !isNamed(one) && isLate(one))]) {
        const dirs = await read(source, nativeId, { isEnough, isLikely: likely.includes(source) })
        if (dirs) return dirs
        await nextTurn()
      }
      return undefined
    },
  }
}

async function scan(platform: Platform, machine: Machine): Promise<FoundSource[]> {
  const found: FoundSource[] = []
  for (const place of placesOf(platform, machine, [])) await scanPlace(platform, place, (source) => found.push(source))
  return found
}

interface ReadOptions extends Pick<RecordsQuery, "isEnough"> {
  isLikely: boolean
}

async function read(
  { path, claim }: FoundSource,
  nativeId: string,
  options: ReadOptions,
): Promise<string[] | undefined> {
  const { reader } = claim
  if (reader.mode === "database" && reader.only) return dirsIn(reader.only(path, nativeId), nativeId, options)
  if (reader.mode === "lines") return dirsIn(linesOf(path, reader), nativeId, options)
  const captures = reader.mode === "whole" ? await reader.read(path) : (await reader.read(path, null)).captures
  // A database has many conversations; this one may come after others.
  return dirsIn(captures, nativeId, { ...options, isLikely: true })
}

async function dirsIn(
  captures: Iterable<Capture> | AsyncIterable<Capture>,
  nativeId: string,
  { isEnough, isLikely }: ReadOptions,
): Promise<string[] | undefined> {
  const dirs: string[] = []
  let isThere = false
  for await (const capture of captures) {
    if (capture.type === "skipped") continue
    if (capture.sessionId === nativeId) {
      if (capture.type === "session" && capture.projectPath !== undefined) dirs.push(capture.projectPath)
      // Prompts are also in history files, which no agent can resume.
      if (capture.type === "turn" && !capture.fallback) isThere = true
      if (isThere && dirs.some(isEnough)) break
    } else if (!isLikely && !isThere) return undefined
  }
  return isThere ? dirs : undefined
}

async function* linesOf(path: string, reader: LinesReader): AsyncGenerator<Capture> {
  const bytes = openBytes(path, reader.compression)
  const state: LineState = reader.begin(path)
  let offset = 0
  try {
    const onSkipped: OnSkipped = (skipped) => {
      offset += skipped.bytes
    }
    for await (const lines of bytes.lines(0, onSkipped))
      for (const line of lines) {
        try {
          yield* reader.line(line, state, { offset })
        } catch {
          // Skips unreadable lines, like capture does.
        }
        offset += line.length
      }
  } finally {
    bytes.close()
  }
}
