import type { SessionId } from "../domain/ids.ts"
import type { Bindings } from "../domain/store.ts"
import type { Db } from "./dialect.ts"

export function makeBindings(db: Db): Bindings {
  return {
    async get(callerKey) {
      const row = await db.selectFrom("bindings").selectAll().where("caller_key", "=", callerKey).executeTakeFirst()
      return row && { rootUri: row.root_uri, sessionId: row.session_id as SessionId | null }
    },
    async set(callerKey, { rootUri, sessionId }, nowMs) {
      const change = {
        ...(rootUri === undefined ? {} : { root_uri: rootUri }),
        ...(sessionId === undefined ? {} : { session_id: sessionId }),
        updated_at_ms: nowMs,
      }
      await db
        .insertInto("bindings")
        .values({
          caller_key: callerKey,
          root_uri: rootUri ?? null,
          session_id: sessionId ?? null,
          updated_at_ms: nowMs,
        })
        .onConflict((c) => c.column("caller_key").doUpdateSet(change))
        .execute()
    },
  }
}
