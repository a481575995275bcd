/**
 * Opens files at paths that a repository, an agent or another user can influence. Everything else in the program that
 * opens, reads, stats or writes such a path does it through here; test/files.test.ts lists the exceptions.
 *
 * What is checked, each time:
 * - Regular files only. A FIFO would block the caller, a device has no end, and a socket is no file at all. The kind is
 *   checked before opening (opening some devices has effects) and again on the open descriptor (the path may have been
 *   swapped); O_NONBLOCK keeps a FIFO that slipped in between from blocking.
 * - Size. A read stops at `maxBytes`, also when the file grows meanwhile or lies about its size.
 * - Links, in one of three ways:
 *     default         the last part of the path is no link
 *     within: folder  nothing below the folder is a link. Use it for every path inside a repository: whoever wrote the
 *                     repository made its links.
 *     links: "own"    links are followed when each of them belongs to us or to root. Use it for agents' own folders:
 *                     people keep their dotfiles elsewhere and link ~/.claude or its settings.json to them.
 * - Owner and mode, with `ours`: the file belongs to us or to root, and cannot be written by everybody ("mine", for
 *   settings that decide which programs run) or by anybody else ("alone", for secrets).
 *
 * A file that is absent or unreadable throws the system's own error; a file that breaks a rule throws a Failure with
 * the code `file_refused` that names the path and the rule. docs/adr/ ("untrusted files") has the reasons.
 */
import {
  accessSync,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs"
import type { Readable } from "node:stream"
import type { Failure } from "../domain/failure.ts"
import { checkedPath, hasModes, isOurs, type Rules, refused, rulesFor } from "./path-rules.ts"

export interface ReadRules extends Rules {
  maxBytes?: number | undefined
}

/** More than any settings file, and little enough to hold in memory. */
const MAX_BYTES = 16 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
// Windows has none of these.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants
export const CAREFULLY = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

/** An open regular file. The caller closes it. */
export interface OpenFile {
  fd: number
  stats: Stats
}

export function openFile(path: string, rules: Rules = {}): OpenFile {
  return opened(path, constants.O_RDONLY, rules)
}

/** For files that are too long to hold. Closes itself. */
export function streamFile(path: string, rules: Rules = {}): Readable {
  const { fd } = openFile(path, rules)
  return createReadStream("", { fd, start: 0 })
}

/** The whole file; refused when it is longer than allowed. */
export function readBytes(path: string, { maxBytes = MAX_BYTES, ...rules }: ReadRules = {}): Buffer {
  const { fd, stats } = openFile(path, rules)
  try {
    if (stats.size > maxBytes) throw tooLong(path, stats.size, maxBytes)
    return readAll(path, fd, stats.size, maxBytes)
  } finally {
    closeSync(fd)
  }
}

export function readText(path: string, rules: ReadRules = {}): string {
  return readBytes(path, rules).toString("utf8")
}

/** Undefined where nothing can be read, for whatever reason. */
export function textIfAny(path: string, rules: ReadRules = {}): string | undefined {
  try {
    return readText(path, rules)
  } catch {
    return undefined
  }
}

/** A file that a person has named, which may be in a repository or not. */
export function readNamed(path: string, projectDir: string): string {
  return readText(path, rulesFor(path, projectDir))
}

/** Null where there is no such file. Everything else that keeps it from being read is thrown. */
export function bytesOrNull(path: string, rules: ReadRules = {}): Buffer | null {
  try {
    return readBytes(path, rules)
  } catch (error) {
    if (isAbsence(error)) return null
    throw error
  }
}

/** The first bytes of a file of any length. */
export function firstBytes(path: string, count: number, rules: Rules = {}): Buffer {
  const { fd } = openFile(path, rules)
  try {
    const into = Buffer.alloc(count)
    return into.subarray(0, readSync(fd, into, 0, count, 0))
  } finally {
    closeSync(fd)
  }
}

/** What lies at the path itself, a link included; undefined where nothing does, or where we may not look. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** What a path leads to, links followed; undefined where we may not look. For what is not opened because of it. */
export function lookBehind(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export function kindOf(path: string): "file" | "folder" | "other" | undefined {
  const found = lookBehind(path)
  return found && (found.isFile() ? "file" : found.isDirectory() ? "folder" : "other")
}

/** Whether it is a file that this user may read. */
export function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return kindOf(path) === "file"
  } catch {
    return false
  }
}

/** Looks at a regular file; undefined for anything else. */
export function lookAtFile(path: string, rules: Rules = {}): Stats | undefined {
  try {
    const found = lstatSync(checkedPath(path, rules), { throwIfNoEntry: false })
    return found?.isFile() ? found : undefined
  } catch {
    return undefined
  }
}

/** Whether there is a folder, by the same rules about links. A folder that we may not look into counts as none. */
export function isFolder(path: string, rules: Rules = {}): boolean {
  try {
    return lstatSync(checkedPath(path, rules), { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}

/** Throws unless the path keeps the rules about links. What is not there yet breaks none. */
export function checkLinks(path: string, rules: Rules): void {
  checkedPath(path, rules)
}

const isAbsence = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(String((error as { code?: unknown }).code))

/** Opens by the rules, for reading or for adding to the end. */
export function opened(path: string, flags: number, rules: Rules): OpenFile {
  const at = checkedPath(path, rules)
  const before = lstatSync(at, { throwIfNoEntry: false })
  if (before) assertRegular(path, before)
  const fd = openCarefully(path, at, flags)
  try {
    const stats = fstatSync(fd)
    assertRegular(path, stats)
    if (rules.ours) assertOurs(path, stats, rules.ours)
    assertSame(at, stats, rules)
    return { fd, stats }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function openCarefully(path: string, at: string, flags: number): number {
  try {
    return openSync(at, flags | CAREFULLY, 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ELOOP: a link came into its place; ENXIO: a FIFO without a reader, or a socket.
    if (code === "ELOOP") throw refused(path, "is a link")
    if (code === "ENXIO") throw refused(path, "is not a regular file")
    throw error
  }
}

/** Folders on the way may have been swapped for links and back: what is open must still be what lies there. */
export function assertSame(path: string, { dev, ino }: Stats, { within }: Rules): void {
  if (within === undefined) return
  checkedPath(path, { within })
  const now = lstatSync(path)
  if (now.dev !== dev || now.ino !== ino) throw refused(path, "was replaced while it was opened")
}

function assertRegular(path: string, found: Stats): void {
  if (found.isFile()) return
  const kind = found.isSymbolicLink() ? "a link" : found.isDirectory() ? "a folder" : "not a regular file"
  throw refused(path, `is ${kind}`)
}

function assertOurs(path: string, found: Stats, ours: "mine" | "alone"): void {
  if (!isOurs(found)) throw refused(path, "belongs to another user")
  const others = ours === "alone" ? 0o022 : 0o002
  if (hasModes && (found.mode & others) !== 0)
    throw refused(path, `can be written by other users: run chmod go-w ${path}`)
}

function readAll(path: string, fd: number, size: number, maxBytes: number): Buffer {
  // One byte more than expected, so that the end is seen with the first read.
  let into = Buffer.allocUnsafe(Math.min(size, maxBytes) + 1)
  let filled = 0
  for (;;) {
    const count = readSync(fd, into, filled, into.length - filled, null)
    filled += count
    if (filled > maxBytes) throw tooLong(path, filled, maxBytes)
    if (count === 0) return into.subarray(0, filled)
    if (filled === into.length)
      into = Buffer.concat([into, Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - filled))])
  }
}

function tooLong(path: string, size: number, maxBytes: number): Failure {
  return refused(path, `has ${megabytes(size)}; at most ${megabytes(maxBytes)} are read`)
}

const megabytes = (bytes: number) => (bytes < 1e6 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`)
