import { chmodSync, closeSync, openSync } from "node:fs"
import Database from "better-sqlite3"
import type { Home } from "./home.ts"

/**
 * One daemon per home. The lock is the kernel's on an otherwise empty SQLite file, so it ends with the process, however
 * that ends, and needs no native module of its own.
 */
export function takeLock(home: Home): (() => void) | undefined {
  closeSync(openSync(home.lock, "a", 0o600))
  chmodSync(home.lock, 0o600)
  const db = new Database(home.lock, { timeout: 0 })
  try {
    db.pragma("journal_mode = DELETE")
    db.exec("begin exclusive")
    return () => db.close()
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY")) return undefined
    throw error
  }
}
