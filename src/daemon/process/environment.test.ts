import { expect, test } from "vitest"
import { childEnv, DRIVEN } from "../../agents/shared/driver/processes.ts"
import { OF_OUTER_AGENTS } from "../../agents/shared/shells.ts"
import {
  agentOf,
  daemonEnvironment,
  enterDemo,
  PAIR,
  personsEnvironment,
  readEnvironment,
  terminalEnvironment,
} from "./environment.ts"

test("a daemon that was started from within a driven agent does not bear that agent's mark", () => {
  const env = daemonEnvironment({ [DRIVEN]: "x", [PAIR]: "p-1", LANG: "C" })
  expect(env).toMatchObject({ LANG: "C", MALLOC_ARENA_MAX: "2" })
  expect(env).not.toHaveProperty(DRIVEN)
  expect(env).not.toHaveProperty(PAIR)
})

test("whose agent it is stands in the environment beside the settings, and is none of them", () => {
  const { agent, settings } = readEnvironment({ [PAIR]: "p-1", THROUGHLINE_LOG_LEVEL: "debug" })
  expect(agent.pair).toBe("p-1")
  expect(settings).toEqual({ THROUGHLINE_LOG_LEVEL: "debug" })
})

test("the demo takes over nothing that names the user's files, agents or settings; a browser is still the user's", () => {
  const own = { PATH: "/bin", LANG: "C", HOME: "/home/me", CODEX_HOME: "/home/me/.codex", CLAUDECODE: "1" }
  const env: NodeJS.ProcessEnv = { ...own, THROUGHLINE_DATABASE_URL: "postgres://db/mine", XDG_DATA_HOME: "/home/me/x" }
  enterDemo({ homeDir: "/tmp/d/home", userDir: "/tmp/d/you" }, env)
  expect(env).toEqual({
    ...{ PATH: "/bin", LANG: "C", HOME: "/tmp/d/you", THROUGHLINE_HOME: "/tmp/d/home" },
    // Who asks from an agent's shell is an agent in the demo too.
    CLAUDECODE: "1",
  })
  expect(personsEnvironment({})).toMatchObject(own)
})

test.each([
  ["CLAUDECODE", "1", "claude-code"],
  ["CODEX_SANDBOX", "seatbelt", "codex"],
  ["CODEX_THREAD_ID", "t", "codex"],
  ["GEMINI_CLI", "1", "gemini-cli"],
  ["OPENCODE", "1", "opencode"],
  ["CURSOR_AGENT", "1", "cursor"],
  ["KILO", "1", "kilo"],
  ["CLINE_ACTIVE", "true", "cline"],
  ["ROO_ACTIVE", "true", "roo"],
  ["COPILOT_CLI", "1", "copilot-cli"],
  ["ANTIGRAVITY_AGENT", "1", "antigravity"],
  ["QWEN_CODE", "1", "qwen-code"],
  ["AI_AGENT", "someone-new_1", "AI_AGENT"],
  [PAIR, "p", "an agent that Throughline drives"],
  [DRIVEN, "m", "an agent that Throughline drives"],
])("%s=%s marks the shell of an agent", (name, value, agent) => {
  expect(agentOf({ PATH: "/bin", [name]: value })).toBe(agent)
  expect(agentOf({ PATH: "/bin", [name]: "" })).toBeUndefined()
})

test("a terminal that a daemon opens is none of the agent that the daemon was started by", () => {
  const marks = Object.fromEntries([...OF_OUTER_AGENTS].map((name) => [name, "1"]))
  expect(terminalEnvironment({ ...marks, LANG: "C" })).toEqual({ LANG: "C" })
  expect(childEnv({ os: "linux", homeDir: "/h", env: { ...marks, LANG: "C" } })).toEqual({ HOME: "/h", LANG: "C" })
})

test("a known agent names itself before the variable that they all share", () => {
  expect(agentOf({ AI_AGENT: "claude-code_2-1-0", CLAUDECODE: "1" })).toBe("claude-code")
})
