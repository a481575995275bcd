import type { Bindings } from "../../domain/binding.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import { prepared } from "./prepared.ts"

const bindingOf = prepared((db, callerKey: string) =>
  db.selectFrom("bindings").selectAll().where("caller_key", "=", callerKey),
)

export function makeBindings(db: Db, dialect: StoreDialect): Bindings {
  return {
    async get(callerKey) {
      const [row] = await bindingOf(db, dialect, callerKey)
      return row && { rootUri: row.root_uri, sessionId: row.session_id as SessionId | null, isOwn: row.is_own === 1 }
    },
    async holders(sessionId) {
      const rows = await db.selectFrom("bindings").select("caller_key").where("session_id", "=", sessionId).execute()
      return rows.map((row) => row.caller_key)
    },
    async set(callerKey, { rootUri, sessionId, isOwn = false }, nowMs) {
      const change = {
        ...(rootUri === undefined ? {} : { root_uri: rootUri }),
        ...(sessionId === undefined ? {} : { session_id: sessionId, is_own: Number(isOwn) }),
        updated_at_ms: nowMs,
      }
      await db
        .insertInto("bindings")
        .values({
          caller_key: callerKey,
          root_uri: rootUri ?? null,
          session_id: sessionId ?? null,
          is_own: Number(isOwn),
          updated_at_ms: nowMs,
        })
        .onConflict((c) => c.column("caller_key").doUpdateSet(change))
        .execute()
    },
  }
}
