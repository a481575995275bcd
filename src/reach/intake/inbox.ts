import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { link, lstat, mkdir, open, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { Failure } from "../../domain/failure.ts"

const FOLDERS = [".throughline", "inbox"] as const
const MAX_NAME_CHARS = 80
const MOST_ALIKE = 100

/**
 * Keeps a file that somebody sent, for the agent of the project: only its owner may read it, git does not see it, and it is
 * never outside of its folder nor in the place of another one. The same file at the same moment is kept once.
 */
export async function saveToInbox(
  projectDir: string,
  file: { name: string; bytes: Uint8Array; atMs: number },
): Promise<string> {
  const inbox = await ensureInbox(projectDir)
  const time = new Date(file.atMs).toISOString().slice(0, 19).replaceAll(":", "-")
  const name = safeName(file.name)
  const end = extname(name)
  const stem = name.slice(0, name.length - end.length)
  // Written aside and then linked: whoever sees the name sees the whole file, also after a crash.
  const part = join(inbox, `.part-${createHash("sha256").update(file.bytes).update(`${time}${name}`).digest("hex")}`)
  await rm(part, { force: true })
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW
  const handle = await open(part, flags, 0o600)
  try {
    await handle.writeFile(file.bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    for (let n = 1; n <= MOST_ALIKE; n++) {
      const path = join(inbox, `${time}-${stem}${n === 1 ? "" : `-${n}`}${end}`)
      if (await linked(part, path)) return path
      if (await holds(path, file.bytes)) return path
    }
  } finally {
    await rm(part, { force: true })
  }
  throw new Failure("bad_input", `${MOST_ALIKE} files of this name came in the same second`)
}

/** What is left of a name that somebody else gave: no folders, nothing hidden, nothing that a shell would take for more. */
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

async function ensureInbox(projectDir: string): Promise<string> {
  let at = await realpath(projectDir)
  for (const name of FOLDERS) {
    at = join(at, name)
    await mkdir(at, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error
    })
    // A link that lies in the project could lead anywhere.
    if (!(await lstat(at)).isDirectory()) throw new Failure("bad_input", `${at} is not a folder`)
  }
  const isNew = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW
  await writeFile(join(at, ".gitignore"), "*\n", { flag: isNew, mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error
  })
  return at
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

async function holds(path: string, bytes: Uint8Array): Promise<boolean> {
  const { size } = await lstat(path)
  return size === bytes.byteLength && (await readFile(path)).equals(bytes)
}
