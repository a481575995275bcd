import type { Selectable } from "kysely"
import type { Presence } from "../../domain/presence.ts"
import type { PresenceStore } from "../../domain/queue-store.ts"
import type { Db } from "../dialects/dialect.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makePresence(db: Db): PresenceStore {
  return {
    async list() {
      return (await db.selectFrom("posts").selectAll().orderBy("team").execute()).map(toPresence)
    },
    async byTeam(team) {
      const row = await db.selectFrom("posts").selectAll().where("team", "=", team).executeTakeFirst()
      return row && toPresence(row)
    },
    async put({ isSupervised, ...presence }) {
      const seen = toColumns(presence)
      await db
        .insertInto("posts")
        .values({ ...seen, is_kept: Number(isSupervised) })
        .onConflict((c) => c.column("team").doUpdateSet(seen))
        .execute()
    },
    async setSupervised(team, isSupervised, nowMs, host) {
      const nobody = { session_id: null, native_id: null, pid: 0, process_start: null, gone_at_ms: null, cause: null }
      await db
        .insertInto("posts")
        .values({ team, host, since_ms: nowMs, is_told: 0, is_kept: Number(isSupervised), ...nobody })
        .onConflict((c) => c.column("team").doUpdateSet({ is_kept: Number(isSupervised) }))
        .execute()
    },
  }
}

const decode = rowDecoder<Omit<Presence, "isSupervised">>({ flags: ["isTold"] })
const toPresence = ({ is_kept, ...row }: Selectable<Tables["posts"]>): Presence => ({
  ...decode(row),
  isSupervised: is_kept === 1,
})
