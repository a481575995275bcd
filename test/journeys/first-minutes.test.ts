import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { writeTalk } from "../fixtures/talk.ts"
import { openTerminal, type Terminal } from "../fixtures/terminal.ts"

const SLOW_MS = 240_000
let home: TestHome
let terminal: Terminal | undefined
afterEach(async () => {
  terminal?.end()
  terminal = undefined
  await home.dispose()
})

function withAgent(): TestHome {
  const made = makeHome()
  const project = join(made.env.HOME!, "harbour")
  mkdirSync(project)
  writeTalk(made.env.HOME!, {
    sessionId: "11111111-0000-4000-8000-000000000000",
    cwd: project,
    startedAt: "2026-01-01T10:00:00Z",
    lines: [
      ["user", "Where does the pelican sit?"],
      ["assistant", "On the quay."],
    ],
  })
  return made
}

test("on a machine without agents, start reports that and offers the demo", async () => {
  home = makeHome()
  const { code, stdout } = await home.run("start")
  expect(code).toBe(0)
  expect(stdout).toMatch(/No agent conversations found on this machine \(checked for \d+ agents\)/)
  expect(stdout).toContain("throughline start --demo")
})

test("on a machine with agents, start imports their sessions and suggests setup", async () => {
  home = withAgent()
  const { stdout } = await home.run("start")
  expect(stdout).toContain("imported  1 Claude Code session")
  expect(stdout).toContain("Next: connect your agents with `throughline setup`")
  const { started } = await home.json<{ started: boolean }>("start")
  expect(started).toBe(false)
})

test(
  "setup guides a person: agents found, planned changes, result, how to undo",
  async () => {
    home = withAgent()
    terminal = openTerminal(home, { cwd: home.env.HOME!, columns: 150, rows: 40 })
    terminal.run("throughline setup")
    await terminal.shows(/Set them up\? \[y\/N\]/)
    const offered = terminal.lines().join("\n")
    expect(offered).toMatch(/claude-code +Claude Code +yes +absent|claude-code +Claude Code +yes +no/)
    expect(offered).toMatch(/# Claude Code \(line by line: throughline setup claude-code --diff\)/)
    expect(offered).toMatch(/\.claude\/settings\.json: hooks for \d+ events/)
    terminal.type("y")
    terminal.key("Enter")
    await terminal.shows("without asking each time?")
    terminal.type("y")
    terminal.key("Enter")
    await terminal.shows("Undo: throughline unsetup claude-code")
    const settings = JSON.parse(readFileSync(join(home.env.HOME!, ".claude", "settings.json"), "utf8"))
    expect(Object.keys(settings.hooks)).toContain("SessionStart")
    expect(settings.permissions).toEqual({ allow: ["mcp__throughline"] })
    terminal.run("throughline setup")
    await terminal.shows("All installed agents are set up.")
  },
  SLOW_MS,
)

test(
  "setup changes nothing if a person declines, and does not ask without a terminal",
  async () => {
    home = withAgent()
    terminal = openTerminal(home, { cwd: home.env.HOME!, columns: 150, rows: 40 })
    terminal.run("throughline setup")
    await terminal.shows(/Set them up\?/)
    terminal.key("Enter")
    await terminal.shows("Nothing was changed.")
    const { code, stdout } = await home.run("setup")
    expect(code).toBe(0)
    expect(stdout).toContain("Name one, or --all: throughline setup claude-code")
  },
  SLOW_MS,
)
