import { randomUUID } from "node:crypto"
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { checkedPath, hasModes, isUs, partsBelow, type Rules, refused } from "./path-rules.ts"
import { assertSame, CAREFULLY, opened } from "./untrusted-file.ts"

/** Throws unless a file can be made or added to here by the rules. */
export function checkWritable(path: string, rules: Rules = {}): void {
  const found = lstatSync(checkedPath(path, rules), { throwIfNoEntry: false })
  if (found && !found.isFile()) throw refused(path, "is not a regular file")
}

/** Adds to the end of a file, which is made if need be. It is on the disk when this returns. */
export function appendText(path: string, text: string, rules: Rules = {}): void {
  const { fd, stats } = opened(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, rules)
  try {
    // An archive can bring a hard link to a file outside of the folder, which no check of links sees.
    if (rules.within !== undefined && stats.nlink > 1)
      throw refused(path, "is a hard link: it has another name as well")
    writeAll(fd, Buffer.from(text))
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** False where something has that name already, whatever it is: it is left as it is. */
export function createFile(path: string, content: string | Uint8Array, rules: Rules & { mode?: number } = {}): boolean {
  const { mode = 0o600, ...links } = rules
  const at = join(checkedPath(dirname(path), links), basename(path))
  let fd: number
  try {
    fd = openSync(at, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | CAREFULLY, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
  try {
    assertSame(at, fstatSync(fd), links)
    writeAll(fd, Buffer.from(content))
    fsyncSync(fd)
    return true
  } catch (error) {
    rmSync(at, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
}

/**
 * Whole or not at all. With links: "own", what a link leads to is replaced and the link stays; otherwise a link in the
 * file's place is replaced itself, and what it led to is left alone. The file keeps its mode, and its owner where we may set it.
 */
export function replaceFile(path: string, content: string | Uint8Array, rules: Rules & { mode?: number } = {}): void {
  const { mode = 0o600, ...links } = rules
  const target = links.links === "own" ? checkedPath(path, links) : path
  if (links.links === "own") mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  else checkedPath(dirname(path), links)
  const before = lstatSync(target, { throwIfNoEntry: false })
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}`)
  if (!createFile(draft, content, { within: links.within })) throw refused(draft, "exists already")
  try {
    if (before?.isDirectory()) throw refused(target, "is a folder")
    const old = before?.isFile() ? before : undefined
    setMode(draft, old ? old.mode & 0o7777 : mode, old)
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Removes a file; with links: "own" the one that a link leads to. */
export function removeFile(path: string, rules: Rules = {}): void {
  if (rules.links !== "own") checkedPath(dirname(path), rules)
  rmSync(rules.links === "own" ? checkedPath(path, rules) : path, { force: true })
}

/** Makes the missing folders of a path, and refuses links among those below `within`. */
export function makeFolder(path: string, { within }: { within: string }): void {
  let at = within
  for (const part of partsBelow(within, path)) {
    at = join(at, part)
    try {
      mkdirSync(at, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    const found = lstatSync(at)
    if (found.isSymbolicLink()) throw refused(at, "is a link")
    if (!found.isDirectory()) throw refused(at, "is not a folder")
  }
}

/** A folder that is ours alone: made if it is missing, and refused if it is a link, another user's or open to others. */
export function privateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  assertPrivate(path)
}

/** Throws unless it is a folder that only we can enter. */
export function assertPrivate(path: string): void {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) throw refused(path, "is a link")
  if (!found.isDirectory()) throw refused(path, "is not a folder")
  if (!isUs(found.uid)) throw refused(path, "belongs to another user")
  if (hasModes && (found.mode & 0o077) !== 0) throw refused(path, `is open to other users: run chmod 700 ${path}`)
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

function setMode(path: string, mode: number, owner?: Stats): void {
  const fd = openSync(path, constants.O_RDONLY | CAREFULLY)
  try {
    if (owner) giveTo(fd, owner)
    // After the owner: changing that takes bits of the mode away.
    fchmodSync(fd, mode)
  } finally {
    closeSync(fd)
  }
}

/** Only root may; for others it is theirs already, or becomes ours. */
function giveTo(fd: number, { uid, gid }: Stats): void {
  const now = fstatSync(fd)
  if (!hasModes || (now.uid === uid && now.gid === gid)) return
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error
  }
}
