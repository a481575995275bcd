import { createHash } from "node:crypto"
import { link, realpath, rm } from "node:fs/promises"
import { extname, join } from "node:path"
import { Failure } from "../../domain/failure.ts"
import { refused } from "../../lib/path-rules.ts"
import { lookAtFile, readBytes } from "../../lib/untrusted-file.ts"
import { createFile, makeFolder } from "../../lib/untrusted-write.ts"

const FOLDERS = [".throughline", "inbox"] as const
const MAX_NAME_CHARS = 80
const MOST_ALIKE = 100

/**
 * Stores a received file for the project's agent: readable by its owner only, ignored by git, never outside of its folder,
 * never over another file. The same file at the same moment is stored once.
 */
export async function saveToInbox(
  projectDir: string,
  file: { name: string; bytes: Uint8Array; atMs: number },
): Promise<string> {
  const within = await realpath(projectDir)
  const inbox = join(within, ...FOLDERS)
  makeFolder(inbox, { within })
  createFile(join(inbox, ".gitignore"), "*\n", { within })
  const time = new Date(file.atMs).toISOString().slice(0, 19).replaceAll(":", "-")
  const name = safeName(file.name)
  const end = extname(name)
  const stem = name.slice(0, name.length - end.length)
  // Written to a temporary name and then linked: atomic, also after a crash.
  const part = join(inbox, `.part-${createHash("sha256").update(file.bytes).update(`${time}${name}`).digest("hex")}`)
  await rm(part, { force: true })
  if (!createFile(part, file.bytes, { within })) throw refused(part, "exists already")
  try {
    for (let n = 1; n <= MOST_ALIKE; n++) {
      const path = join(inbox, `${time}-${stem}${n === 1 ? "" : `-${n}`}${end}`)
      if (await linked(part, path)) return path
      if (holds(path, file.bytes)) return path
    }
  } finally {
    await rm(part, { force: true })
  }
  throw new Failure("bad_input", `${MOST_ALIKE} files of this name came in the same second`)
}

/** A safe file name: no folders, not hidden, no shell syntax. */
export function safeName(name: string): string {
  const plain = name
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
    .replaceAll(/\.{2,}/g, ".")
    .replace(/^[-.]+/, "")
    .replace(/[-.]+$/, "")
  const end = extname(plain).slice(0, 12)
  const stem = plain.slice(0, plain.length - extname(plain).length)
  return `${[...stem].slice(0, MAX_NAME_CHARS).join("") || "file"}${end}`
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

function holds(path: string, bytes: Uint8Array): boolean {
  const size = lookAtFile(path)?.size
  return size === bytes.byteLength && readBytes(path, { maxBytes: size }).equals(bytes)
}
