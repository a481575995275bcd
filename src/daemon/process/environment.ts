import { homedir, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { DemoPlace } from "../../../demo/place.ts"
import { DRIVEN } from "../../agents/shared/driver/processes.ts"
import { AGENT_VARIABLES, OF_OUTER_AGENTS } from "../../agents/shared/shells.ts"
import type { Machine } from "../../domain/platform.ts"
import { present } from "../../lib/defined.ts"

/** Set for our MCP server in an agent that is started for a pair. */
export const PAIR = "THROUGHLINE_PAIR"

/** The one place that reads the process's environment. */
export interface Environment {
  home: string
  homeDir: string
  tempDir: string
  /** Settings given as THROUGHLINE_…, by their full name. */
  settings: Record<string, string>
  /** What determines where agents store their files. */
  machine: Machine
  /** Set in demo mode. */
  demo?: DemoPlace
  agent: { pair?: string; projectDir?: string; nativeSession?: { platform: string; id: string }; shell?: string }
  cwd: string
  /** The user's pager, and the environment that makes it pass colours through. */
  pager: { command: string | undefined; env: NodeJS.ProcessEnv }
}

/** What the demo inherits from its shell: nothing that names the user's files, agents or settings. */
const NEUTRAL =
  /^(PATH|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|LANG|LC_.*|TZ|TMPDIR|SHELL|USER|LOGNAME|PAGER|LESS|LINES|COLUMNS)$/

let personsOwn: NodeJS.ProcessEnv | undefined

/** Switches this process and its children to the demo. */
export function enterDemo(
  { homeDir, userDir }: { homeDir: string; userDir: string },
  env: NodeJS.ProcessEnv = process.env,
): void {
  personsOwn = { ...env }
  for (const name of Object.keys(env)) if (!NEUTRAL.test(name) && !(name in SHELLS)) delete env[name]
  env.HOME = userDir
  env.THROUGHLINE_HOME = homeDir
}

/** For the user's own programs, such as a browser, even in the demo. */
export function personsEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return personsOwn ?? env
}

/**
 * For a daemon, read by glibc alone. Threads share two heaps instead of having one each, and what was freed goes back:
 * left alone, a single line of 20 MB makes glibc keep that much from then on.
 */
const GIVES_BACK = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_MMAP_THRESHOLD_: "131072",
}

export function daemonEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  // A daemon started from within a driven agent must not count as the agent's leftover.
  const { [DRIVEN]: _, [PAIR]: __, ...own } = env
  return { ...GIVES_BACK, ...own }
}

const PANE = new Set(["TMUX", "TMUX_PANE"])

/** For terminals in which agents start: the daemon itself may have been started by an agent, or in a pane. */
export function terminalEnvironment(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !OF_OUTER_AGENTS.has(name) && !PANE.has(name) && !(name in GIVES_BACK)),
  )
}

const NOT_SETTINGS = new Set(["THROUGHLINE_HOME", PAIR])

export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const settings: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith("THROUGHLINE_") && !NOT_SETTINGS.has(name) && value !== undefined) settings[name] = value
  }
  const homeDir = homedir()
  const sessionId = env.CLAUDE_CODE_SESSION_ID
  return {
    home: resolve(env.THROUGHLINE_HOME || join(homeDir, ".throughline")),
    homeDir,
    tempDir: tmpdir(),
    settings,
    machine: {
      os: process.platform === "darwin" || process.platform === "win32" ? process.platform : "linux",
      homeDir,
      env,
    },
    agent: present({
      pair: env[PAIR] || undefined,
      projectDir: env.CLAUDE_PROJECT_DIR || undefined,
      nativeSession: sessionId ? { platform: "claude-code", id: sessionId } : undefined,
      shell: agentOf(env),
    }),
    cwd: process.cwd(),
    pager: { command: env.PAGER, env: { LESS: "FRX", LV: "-c", ...env } },
  }
}

const SHELLS: Record<string, string> = {
  ...AGENT_VARIABLES,
  // Given to agents that Throughline itself starts for a pair.
  [DRIVEN]: "an agent that Throughline drives",
  [PAIR]: "an agent that Throughline drives",
}

/** The agent that this environment comes from, if any. */
export function agentOf(env: NodeJS.ProcessEnv): string | undefined {
  const name = Object.keys(SHELLS).find((key) => env[key])
  return name === undefined ? undefined : SHELLS[name]
}
