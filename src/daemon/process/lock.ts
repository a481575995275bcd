import { chmodSync, closeSync, openSync, statSync } from "node:fs"
import Database from "better-sqlite3"
import type { Home } from "./home.ts"

export interface Lock {
  release(): void
  /** False once the data directory was deleted: what is there now belongs to another daemon. */
  isInPlace(): boolean
}

/**
 * One daemon per data directory. The lock is the kernel's on an otherwise empty SQLite file, so it ends with the process, however
 * that ends, and needs no native module of its own.
 */
export function takeLock(home: Home): Lock | undefined {
  closeSync(openSync(home.lock, "a", 0o600))
  chmodSync(home.lock, 0o600)
  const db = new Database(home.lock, { timeout: 0 })
  try {
    db.pragma("journal_mode = DELETE")
    db.exec("begin exclusive")
    const held = fileAt(home.lock)
    return { release: () => db.close(), isInPlace: () => held !== undefined && fileAt(home.lock) === held }
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY")) return undefined
    throw error
  }
}

function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}
