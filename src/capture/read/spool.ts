import { randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { MISSED_START, type SentHook, sentHook } from "../../domain/hook.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import { HOUR_MS } from "../../lib/time.ts"
import { bytesOrNull, lookAt } from "../../lib/untrusted-file.ts"

const SUFFIX = ".hook"
const FIRST_LINE = "throughline-hook 1"
/** More than a hook sends; the same limit as for the daemon's socket. */
const MAX_SPOOLED_BYTES = 64 * 1024 * 1024
/** Drafts have hidden names; one this old is from a killed hook. */
const LEFT_BEHIND_MS = HOUR_MS

/** Files of hooks that could not reach the daemon; their names sort by time. */
export function makeSpool(dir: string) {
  return {
    /** Complete files, oldest first. */
    async names() {
      const all = await readdir(dir).catch(() => [])
      return all.filter((name) => name.endsWith(SUFFIX) && !name.startsWith(".")).sort()
    },
    /** Undefined for an invalid file, which is renamed and not listed again. */
    async read(name: string): Promise<SentHook | undefined> {
      const path = join(dir, name)
      const text = spooled(path)
      if (text === null) return undefined
      const sent = text === undefined ? undefined : parse(text, name)
      if (!sent) await rename(path, `${path}.unreadable`)
      return sent
    },
    remove: (name: string) => rm(join(dir, name), { force: true }),
  }
}

/** Same format as hook.sh, for systems that cannot run it. */
export async function writeSpool(
  dir: string,
  { platform, headers, body, atNs }: { platform: string; headers: Record<string, string>; body: string; atNs: bigint },
): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const lines = [FIRST_LINE, `platform: ${platform}`, ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`)]
  const name = `${atNs}-${process.pid}`
  const draft = join(dir, `.${name}-${randomUUID()}`)
  await writeFile(draft, `${lines.join("\n")}\n\n${body}`, { mode: 0o600 })
  await rename(draft, join(dir, `${name}${SUFFIX}`))
}

/** Gives the next prompt's hook more time for an answer. */
export async function markMissedStart(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await writeFile(join(dir, MISSED_START), "", { mode: 0o600 })
}

/** Removes drafts of killed hooks. */
export async function sweepSpool(dir: string, nowMs: number): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    if (!name.startsWith(".")) continue
    const found = lookAt(join(dir, name))
    if (found && nowMs - found.mtimeMs > LEFT_BEHIND_MS) await rm(join(dir, name), { force: true })
  }
}

/** Null if it is gone; undefined if no hook can have written it. */
function spooled(path: string): string | null | undefined {
  try {
    return bytesOrNull(path, { maxBytes: MAX_SPOOLED_BYTES })?.toString("utf8") ?? null
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  }
}

function parse(text: string, name: string): SentHook | undefined {
  const end = text.indexOf("\n\n")
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split("\n")
  if (first !== FIRST_LINE) return undefined
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(": ")
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  const platform = headers.find(([key]) => key === "platform")?.[1]
  if (platform === undefined) return undefined
  const atMs = Math.trunc(Number.parseInt(name, 10) / 1e6) || 0
  return sentHook(platform, headers, text.slice(end + 2), { key: name, atMs })
}
