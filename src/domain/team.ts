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
  /** A file with instructions that its own sessions are started with. */
  instructionsFile: string | null
  /** A file with the agent's settings that its own sessions are started with. */
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
