import { createHash, randomBytes } from "node:crypto"
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { Failure } from "../domain/failure.ts"

/** Where everything lies. Nothing here is readable by other users. */
export interface Home {
  dir: string
  config: string
  database: string
  /** What is found by search; it can be made again from the database. */
  index: string
  /** Made by an embedder, which may cost time or money: they outlive the index. */
  vectors: string
  lock: string
  registration: string
  token: string
  /** What the dashboard shows that it is the owner's; no agent is given it. */
  ownerKey: string
  /** What the daemon was given by its environment, so that those whom it starts are not. */
  secrets: string
  logs: string
  log: string
  socket: string
  /** Of the server of tmux in which teams' sessions run. */
  tmux: string
  /** The script that agents' hooks run, and where it leaves what it cannot hand over. */
  hook: string
  spool: string
  /** What `setup` did to agents' files, and the files as they were. */
  setup: string
  backups: string
  /** First prompts for agents that go on with another's session. */
  handoffs: string
}

/** The kernel refuses longer socket paths; macOS allows the least. */
const MAX_SOCKET_PATH = 103

export function homeAt(dir: string, tempDir: string): Home {
  const logs = join(dir, "logs")
  return {
    dir,
    config: join(dir, "config.json"),
    database: join(dir, "throughline.db"),
    index: join(dir, "index.db"),
    vectors: join(dir, "vectors.db"),
    lock: join(dir, "daemon.lock"),
    registration: join(dir, "daemon.json"),
    token: join(dir, "token"),
    ownerKey: join(dir, "owner.key"),
    secrets: join(dir, "secrets"),
    logs,
    log: join(logs, "throughline.log"),
    socket: socketPath(dir, "daemon", tempDir),
    tmux: socketPath(dir, "tmux", tempDir),
    hook: join(dir, "hook.sh"),
    spool: join(dir, "spool"),
    setup: join(dir, "setup.json"),
    backups: join(dir, "backups"),
    handoffs: join(dir, "handoffs"),
  }
}

export function prepareHome(home: Home): void {
  try {
    mkdirSync(home.logs, { recursive: true, mode: 0o700 })
    chmodSync(home.dir, 0o700)
    const socketDir = join(home.socket, "..")
    mkdirSync(socketDir, { recursive: true, mode: 0o700 })
    const owner = statSync(socketDir)
    if (process.getuid && owner.uid !== process.getuid()) throw new Error(`${socketDir} belongs to another user`)
    chmodSync(socketDir, 0o700)
  } catch (error) {
    throw new Failure(
      "store_readonly",
      `Throughline's home ${home.dir} cannot be written: ${(error as Error).message}`,
      { home: home.dir },
      { cause: error },
    )
  }
}

/** What the system says about a home that cannot be written, as a Failure; undefined if it is something else. */
export function homeFailure(home: Home, error: unknown): Failure | undefined {
  const code = String((error as { code?: unknown } | null)?.code)
  const is = (...prefixes: string[]) => prefixes.some((prefix) => code.startsWith(prefix))
  const failure = (name: "store_full" | "store_readonly", why: string) =>
    new Failure(name, `${why}: ${home.dir} (${code})`, { home: home.dir }, { cause: error })
  if (is("ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR")) return failure("store_full", "the disk is full")
  if (is("EROFS", "EACCES", "EPERM", "SQLITE_READONLY", "SQLITE_CANTOPEN"))
    return failure("store_readonly", "Throughline's home cannot be written")
  return undefined
}

export const tokenOf = (home: Home) => secretAt(home.token)
export const ownerKeyOf = (home: Home) => secretAt(home.ownerKey)

/** Made once, by whoever comes first; later ones read it. */
function secretAt(path: string): string {
  try {
    writeFileSync(path, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  return readFileSync(path, "utf8").trim()
}

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

/** The files themselves are the record: deleting one is how a person says that it is dealt with. */
export function damagedFiles(home: Home): string[] {
  const names = readdirSync(home.dir).filter(
    (name) => name.startsWith(`${basename(home.database)}.damaged-`) && !/-(wal|shm)$/.test(name),
  )
  return names.map((name) => join(home.dir, name)).sort()
}
