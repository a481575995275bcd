import type { Selectable } from "kysely"
import type { Presence } from "../../domain/presence.ts"
import type { PresenceStore } from "../../domain/queue-store.ts"
import type { Db } from "../dialects/dialect.ts"
import { many, one, select, upsert } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makePresence(db: Db): PresenceStore {
  return {
    list: () => many(select(db, "posts").orderBy("team"), toPresence),
    byTeam: (team) => one(select(db, "posts", { team }), toPresence),
    async put({ isSupervised, ...presence }) {
      const seen = toColumns(presence)
      await upsert(db, "posts", ["team"], { ...seen, is_kept: Number(isSupervised) }, seen)
    },
    async setSupervised(team, isSupervised, nowMs, host) {
      const nobody = { session_id: null, native_id: null, pid: 0, process_start: null, gone_at_ms: null, cause: null }
      const change = { is_kept: Number(isSupervised) }
      await upsert(db, "posts", ["team"], { team, host, since_ms: nowMs, is_told: 0, ...change, ...nobody }, change)
    },
  }
}

const decode = rowDecoder<Omit<Presence, "isSupervised">>({ flags: ["isTold"] })
const toPresence = ({ is_kept, ...row }: Selectable<Tables["posts"]>): Presence => ({
  ...decode(row),
  isSupervised: is_kept === 1,
})
