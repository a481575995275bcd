import type { Session } from "./session.ts"

/** A named project with an agent: whom a message is for, and who is asked. Told by the configuration. */
export interface Team {
  name: string
  /** Absolute, and the real path. */
  projectDir: string
  description: string
  platform: string
  /** Where the agent's program is; null looks for it on the path. */
  program: string | null
  /** The agent asks nobody. Off unless it is said. */
  skipPermissions: boolean
  /** How its own sessions are started; agents are never left to choose it themselves. */
  permissionMode: string
  /** What may be done when something waits for it and no session of it is live. */
  whenAway: "keep" | "resume" | "start"
  /** File with instructions for the sessions Throughline starts. */
  instructionsFile: string | null
  /** File with agent settings for the sessions Throughline starts. */
  settingsFile: string | null
  /** For agents without hooks: the file in which they say which session they are. */
  sessionFile: string | null
  /** Whether the state of its task is also written to `.claude-session-state.json` in the project. */
  taskStateFile: boolean
  /** As hexColour returns it. */
  color: string | null
  /** Where its sessions are told; null where all that have none are. */
  chat: TeamChat | null
  idleTimeoutMs: number | null
}

/** A chat of a messenger, or the thread of it that all sessions of the team share. */
export interface TeamChat {
  id: string
  thread: number | null
  /** The user ids of people who may act there, and nowhere else. */
  users: readonly string[]
}

/** As a team is of which nothing more was said: for sessions of no team, which ask for what they may do. */
export const plainTeam = (name: string, projectDir: string, platform = "claude-code"): Team => ({
  name,
  projectDir,
  description: "",
  platform,
  program: null,
  skipPermissions: false,
  permissionMode: "default",
  whenAway: "keep",
  instructionsFile: null,
  settingsFile: null,
  sessionFile: null,
  taskStateFile: false,
  color: null,
  chat: null,
  idleTimeoutMs: null,
})

/** Who there is. The configuration may change while the program runs. */
export interface Roster {
  list(): readonly Team[]
  byName(name: string): Team | undefined
  /** The teams whose project is this folder, or one above it; the nearest first. */
  at(dir: string): readonly Team[]
  onChange(listener: () => void): () => void
}

/** The teams that a session is of: the nearest ones of its agent at or above its folder, else at its project's root. */
export function teamsOf(
  roster: Pick<Roster, "at">,
  session: Pick<Session, "platform" | "projectPath" | "rootUri">,
  dir?: string | null,
): Team[] {
  // A worktree may lie anywhere: what it belongs to is the root that it leads to.
  const root = session.rootUri === null ? null : decodeURIComponent(new URL(session.rootUri).pathname)
  for (const place of [dir, session.projectPath, root]) {
    if (!place) continue
    const found = roster.at(place).filter(({ platform }) => platform === session.platform)
    if (found.length > 0) return found.filter(({ projectDir }) => projectDir === found[0]!.projectDir)
  }
  return []
}
