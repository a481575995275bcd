import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import * as z from "zod"
import { newTimedId } from "../../domain/ids.ts"
import type { AuditEntry } from "../../domain/permission.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import { bytesOrNull } from "../../lib/untrusted-file.ts"
import { createFile, removeFile } from "../../lib/untrusted-write.ts"
import { OWNER } from "../../operations/invoke.ts"
import type { Environment } from "../process/environment.ts"
import { type Home, homeFailure, prepareHome } from "../process/home.ts"

type Entry = Omit<AuditEntry, "seq">

const MOST_BYTES = 64 * 1024
const ENTRY = z.strictObject({
  atMs: z.number().int().nonnegative(),
  who: z.string(),
  what: z.string(),
  data: z.record(z.string(), z.unknown()),
})

/**
 * What a command is about to do that is no operation, so that no daemon records it. Written before it is done; names and
 * settings' keys only, never values. The daemon takes it into its audit.
 */
export function recordCommand(
  { home, environment }: { home: Home; environment: Pick<Environment, "agent"> },
  what: string,
  data: Record<string, unknown>,
): void {
  const { shell } = environment.agent
  const who = shell === undefined ? OWNER : `the shell of an agent (${shell})`
  const atMs = Date.now()
  // The id makes the import idempotent, and sorting by it keeps the order.
  const id = newTimedId(atMs)
  const entry: Entry = { atMs, who, what, data: { via: "terminal", ...data, recordId: id } }
  prepareHome(home)
  try {
    mkdirSync(home.audit, { recursive: true, mode: 0o700 })
    createFile(join(home.audit, `${id}.json`), `${JSON.stringify(entry)}\n`)
  } catch (error) {
    throw homeFailure(home, error) ?? error
  }
}

/** Imports the commands' records. A file is removed once its row is stored; unreadable ones stay and are reported. */
export async function takeInCommands(
  home: Home,
  addOnce: (entry: Entry) => Promise<void>,
  onUnreadable: (path: string, error: unknown) => void,
): Promise<void> {
  for (const name of recorded(home)) {
    const path = join(home.audit, name)
    let entry: Entry | undefined
    try {
      const text = bytesOrNull(path, { ours: "alone", maxBytes: MOST_BYTES })?.toString("utf8").trim()
      // Missing: already imported. Empty: forgotten, or cut off before anything was done.
      if (text) entry = ENTRY.parse(JSON.parse(text))
    } catch (error) {
      onUnreadable(path, error)
      continue
    }
    if (entry) await addOnce(entry)
    removeFile(path)
  }
}

function recorded(home: Home): string[] {
  try {
    return readdirSync(home.audit)
      .filter((name) => name.endsWith(".json"))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || isRefusal(error)) return []
    throw error
  }
}
