/** Folders of callers on one machine, which are looked at although nothing was said in them yet. */
export interface FollowedFolders {
  /** Newest first. */
  of(host: string): Promise<{ path: string; seenAtMs: number }[]>
  seen(host: string, path: string, atMs: number): Promise<void>
  drop(host: string, paths: readonly string[]): Promise<void>
}
