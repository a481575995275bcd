import { createHash, randomBytes } from "node:crypto"
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Failure } from "../../domain/failure.ts"
import { isRefusal, isUs } from "../../lib/path-rules.ts"
import { readText } from "../../lib/untrusted-file.ts"
import { assertPrivate, createFile, privateFolder } from "../../lib/untrusted-write.ts"

/** The files of the data directory. None is readable by other users. */
export type Home = ReturnType<typeof homeAt>

/** The kernel refuses longer socket paths; macOS allows the least. */
const MAX_SOCKET_PATH = 103

export function homeAt(dir: string, tempDir: string) {
  const logs = join(dir, "logs")
  return {
    dir,
    config: join(dir, "config.json"),
    database: join(dir, "throughline.db"),
    /** The search index; it can be rebuilt from the database. */
    index: join(dir, "index.db"),
    /** Embeddings cost time or money, so they outlive the index. */
    vectors: join(dir, "vectors.db"),
    lock: join(dir, "daemon.lock"),
    registration: join(dir, "daemon.json"),
    token: join(dir, "token"),
    /** Proves that a request is the owner's; no agent gets it. */
    ownerKey: join(dir, "owner.key"),
    /** Secrets from the daemon's environment, kept from the processes it starts. */
    secrets: join(dir, "secrets"),
    logs,
    log: join(logs, "throughline.log"),
    socket: socketPath(dir, "daemon", tempDir),
    /** The tmux server of the teams' sessions. */
    tmux: socketPath(dir, "tmux", tempDir),
    /** The script that agents' hooks run, and its spool for undelivered events. */
    hook: join(dir, "hook.sh"),
    spool: join(dir, "spool"),
    /** Records of commands that are not operations, until the daemon has audited them. */
    audit: join(dir, "audit"),
    /** What `setup` changed in agents' files, and the original files. */
    setup: join(dir, "setup.json"),
    backups: join(dir, "backups"),
    /** First prompts of handoffs. */
    handoffs: join(dir, "handoffs"),
  }
}

export function prepareHome(home: Home): void {
  try {
    assertOwn(home)
    mkdirSync(home.logs, { recursive: true, mode: 0o700 })
    chmodSync(home.dir, 0o700)
    if (!isInside(home, home.socket)) privateFolder(dirname(home.socket))
  } catch (error) {
    if (isRefusal(error)) throw unsafe(home, error.message, error)
    if (error instanceof Failure) throw error
    throw new Failure(
      "store_readonly",
      `Throughline's data directory ${home.dir} is not writable: ${(error as Error).message}`,
      { home: home.dir },
      { cause: error },
    )
  }
}

/** In the temporary directory another user could have created the socket's folder to impersonate the daemon. */
export function isSocketOurs(home: Home, socket = home.socket): boolean {
  if (isInside(home, socket)) return true
  try {
    assertPrivate(dirname(socket))
    return true
  } catch {
    return false
  }
}

const isInside = (home: Home, socket: string) => dirname(socket) === home.dir

/** Files planted by others must not count as ours: settings start programs, and keys grant access. */
function assertOwn(home: Home): void {
  const { dir } = home
  const found = statSync(dir, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return
  if (!isUs(found.uid))
    throw unsafe(home, `${dir} belongs to another user: set THROUGHLINE_HOME to a folder of your own`)
  const isOpen = process.getuid !== undefined && (found.mode & 0o002) !== 0
  if (isOpen && readdirSync(dir).length > 0)
    throw unsafe(home, `other users can write to ${dir}: remove what you did not put there, then run chmod 700 ${dir}`)
}

const unsafe = (home: Home, why: string, cause?: unknown) =>
  new Failure("home_unsafe", why, { home: home.dir }, { cause })

/** The failure for a data directory that cannot be written; undefined for any other error. */
export function homeFailure(home: Home, error: unknown): Failure | undefined {
  const code = String((error as { code?: unknown } | null)?.code)
  const is = (...prefixes: string[]) => prefixes.some((prefix) => code.startsWith(prefix))
  const failure = (name: "store_full" | "store_readonly", why: string) =>
    new Failure(name, `${why}: ${home.dir} (${code})`, { home: home.dir }, { cause: error })
  if (is("ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR")) return failure("store_full", "the disk is full")
  if (is("EROFS", "EACCES", "EPERM", "SQLITE_READONLY", "SQLITE_CANTOPEN"))
    return failure("store_readonly", "Throughline's data directory is not writable")
  return undefined
}

export const tokenOf = (home: Home) => secretAt(home, home.token)
export const ownerKeyOf = (home: Home) => secretAt(home, home.ownerKey)

/** Created once by the first caller; later ones read it. */
function secretAt(home: Home, path: string): string {
  assertOwn(home)
  createFile(path, `${randomBytes(32).toString("base64url")}\n`)
  try {
    return readText(path, { ours: "alone", maxBytes: MAX_SECRET_BYTES }).trim()
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw unsafe(home, `${error.message}. Delete ${path}: the next start makes a new one`, error)
  }
}

const MAX_SECRET_BYTES = 4096

function socketPath(dir: string, name: string, tempDir: string): string {
  const usual = join(dir, `${name}.sock`)
  if (Buffer.byteLength(usual) <= MAX_SOCKET_PATH) return usual
  const short = createHash("sha256").update(dir).digest("hex").slice(0, 16)
  return join(
    tempDir,
    `throughline-${process.getuid?.() ?? 0}`,
    name === "daemon" ? `${short}.sock` : `${short}-${name}.sock`,
  )
}

/** The files themselves are the record: deleting one acknowledges it. */
export function damagedFiles(home: Home): string[] {
  const names = readdirSync(home.dir).filter(
    (name) => name.startsWith(`${basename(home.database)}.damaged-`) && !/-(wal|shm)$/.test(name),
  )
  return names.map((name) => join(home.dir, name)).sort()
}
