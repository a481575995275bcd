import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { LiveSession, LiveStatus } from "../../domain/live.ts"
import { sleep } from "../../lib/clock.ts"
import { readText } from "../../lib/untrusted-file.ts"

/** Claude Code writes one file per process, not atomically: retry a half-written one. */
export async function liveSessions(dir: string): Promise<LiveSession[]> {
  const names = await readdir(dir).catch(() => [])
  const read = names.filter((name) => /^\d+\.json$/.test(name)).map((name) => liveSession(join(dir, name)))
  return (await Promise.all(read)).filter((one) => one !== undefined)
}

/** Real ones have a few hundred bytes. */
const MAX_ENTRY_BYTES = 64 * 1024
/** A session mistaken for closed gets a second process, so do not trust one look in the middle of a write. */
const LOOKS = 5
const AGAIN_MS = 10

async function liveSession(path: string): Promise<LiveSession | undefined> {
  for (let look = 1; ; look++) {
    try {
      const entry: unknown = JSON.parse(readText(path, { maxBytes: MAX_ENTRY_BYTES }))
      return typeof entry === "object" && entry !== null ? sessionOf(entry as Record<string, unknown>) : undefined
    } catch (error) {
      if (!(error instanceof SyntaxError) || look === LOOKS) return undefined
    }
    await sleep(AGAIN_MS)
  }
}

function sessionOf(entry: Record<string, unknown>): LiveSession | undefined {
  const word = (key: string) => {
    const value = entry[key]
    return typeof value === "string" && value !== "" ? value : null
  }
  const number = (key: string) => (typeof entry[key] === "number" ? entry[key] : null)
  const [pid, nativeId] = [number("pid"), word("sessionId")]
  if (pid === null || nativeId === null) return undefined
  return {
    platform: "claude-code",
    nativeId,
    pid,
    processStart: word("procStart"),
    cwd: word("cwd"),
    // Treat an unknown status as busy.
    status: STATUSES[word("status") ?? ""] ?? "busy",
    waitingFor: word("waitingFor"),
    statusAtMs: number("statusUpdatedAt"),
    isUnattended: (word("kind") ?? "interactive") !== "interactive" || (word("entrypoint") ?? "").startsWith("sdk"),
  }
}

const STATUSES: Record<string, LiveStatus | undefined> = { idle: "idle", busy: "busy", waiting: "waiting" }
