import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { IndexTables } from "../../src/domain/index-tables.ts"
import { sqliteIndex } from "../../src/store/index-sqlite.ts"
import { indexTablesContract } from "./index-tables.ts"

indexTablesContract("the index on SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  const path = join(folder, "index.db")
  const others: IndexTables[] = []
  const tables = sqliteIndex({ path })
  return {
    tables,
    async again() {
      const other = sqliteIndex({ path })
      others.push(other)
      await other.open()
      return other
    },
    async dispose() {
      for (const opened of [tables, ...others]) await opened.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})
