import type { FollowedFolders } from "../../domain/folder-store.ts"
import type { Db } from "../dialects/dialect.ts"

export function makeFollowedFolders(db: Db): FollowedFolders {
  return {
    async of(host) {
      const rows = await db
        .selectFrom("followed_folders")
        .select(["path", "seen_at_ms as seenAtMs"])
        .where("host", "=", host)
        .orderBy("seen_at_ms", "desc")
        .orderBy("path")
        .execute()
      return rows
    },
    async seen(host, path, atMs) {
      await db
        .insertInto("followed_folders")
        .values({ host, path, seen_at_ms: atMs })
        .onConflict((c) => c.columns(["host", "path"]).doUpdateSet({ seen_at_ms: atMs }))
        .execute()
    },
    async drop(host, paths) {
      if (paths.length === 0) return
      await db.deleteFrom("followed_folders").where("host", "=", host).where("path", "in", paths).execute()
    },
  }
}
