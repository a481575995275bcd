import { randomUUID } from "node:crypto"
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type SentHook, sentHook } from "../../domain/hook.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import { HOUR_MS } from "../../lib/time.ts"
import { bytesOrNull, lookAt } from "../../lib/untrusted-file.ts"

/** Where hooks leave what they could not hand to the daemon: one file each, whose names sort by time. */
export interface Spool {
  /** Names of whole files, oldest first. */
  names(): Promise<string[]>
  /** Undefined for one that is no such file; it is kept aside and not named again. */
  read(name: string): Promise<SentHook | undefined>
  remove(name: string): Promise<void>
}

const SUFFIX = ".hook"
const FIRST_LINE = "throughline-hook 1"
/** More than a hook hands over; the daemon takes no more over its socket either. */
const MAX_SPOOLED_BYTES = 64 * 1024 * 1024
/** A file that is still being written has a hidden name; one so old belongs to a hook that was killed. */
const LEFT_BEHIND_MS = HOUR_MS

export function makeSpool(dir: string): Spool {
  return {
    async names() {
      const all = await readdir(dir).catch(() => [])
      return all.filter((name) => name.endsWith(SUFFIX) && !name.startsWith(".")).sort()
    },
    async read(name) {
      const path = join(dir, name)
      const text = spooled(path)
      if (text === null) return undefined
      const sent = text === undefined ? undefined : parse(text, name)
      if (!sent) await rename(path, `${path}.unreadable`)
      return sent
    },
    remove: (name) => rm(join(dir, name), { force: true }),
  }
}

/** The same as hook.sh does, for systems on which that does not run. */
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

/** Takes away what killed hooks left half written. */
export async function sweepSpool(dir: string, nowMs: number): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    if (!name.startsWith(".")) continue
    const found = lookAt(join(dir, name))
    if (found && nowMs - found.mtimeMs > LEFT_BEHIND_MS) await rm(join(dir, name), { force: true })
  }
}

/** Null where there is none; undefined for what no hook has written. */
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
