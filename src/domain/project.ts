import type { ProjectId } from "./ids.ts"

/** A canonical root. Symlinks, subfolders and worktrees lead to it; see sessions/roots.ts. */
export interface Project {
  id: ProjectId
  rootUri: string
  createdAtMs: number
}
