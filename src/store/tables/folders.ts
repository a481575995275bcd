import type { FollowedFolders } from "../../domain/folder-store.ts"
import type { Db } from "../dialects/dialect.ts"
import { upsert } from "../queries.ts"

export function makeFollowedFolders(db: Db): FollowedFolders {
  return {
    of: (host) =>
      db
        .selectFrom("followed_folders")
        .select(["path", "seen_at_ms as seenAtMs"])
        .where("host", "=", host)
        .orderBy("seen_at_ms", "desc")
        .orderBy("path")
        .execute(),
    seen: (host, path, atMs) => upsert(db, "followed_folders", ["host", "path"], { host, path, seen_at_ms: atMs }),
    async drop(host, paths) {
      if (paths.length === 0) return
      await db.deleteFrom("followed_folders").where("host", "=", host).where("path", "in", paths).execute()
    },
  }
}
