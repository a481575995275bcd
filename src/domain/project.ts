import type { Caller } from "./caller.ts"
import type { ProjectId } from "./ids.ts"

/** A canonical root. Symlinks, subfolders and worktrees lead to it; see sessions/roots.ts. */
export interface Project {
  id: ProjectId
  rootUri: string
  createdAtMs: number
}

export interface CallerRoot {
  /** As it was named: a subfolder, a worktree, a symlink. */
  given: string
  /** What it leads to, as a canonical URI. */
  uri: string
  /** Absent as long as nothing was kept for this root. */
  project: Project | undefined
  source: "argument" | "bound" | "environment" | "client" | "folder"
}

export interface ProjectFinder {
  find(root: string): Promise<{ uri: string; project: Project | undefined }>
  ensure(root: string): Promise<Project>
  /** Those whose folder has this name. */
  named(name: string): Promise<Project[]>
  /** First that answers: argument, bound root, environment, the client's roots, the process's folder. */
  ofCaller(caller: Caller, explicit?: string): Promise<CallerRoot | undefined>
  /** The folder that an MCP client was started in, where that does not count as its project. */
  uncounted(caller: Caller): string | undefined
}
