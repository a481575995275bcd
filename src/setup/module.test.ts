import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { agentSetups as agents } from "../agents/list.ts"
import { projectRules } from "../agents/shared/setup/rules.ts"
import type { FileSetup } from "../domain/setup.ts"
import { diffText } from "../lib/diff-text.ts"
import { makeSetup } from "./module.ts"

let dir: string
let nowMs = 1_800_000_000_000
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "setup-module-"))
})
afterEach(() => rmSync(dir, { recursive: true }))

const inHome = (path: string) => join(dir, path)
const text = (path: string) => readFileSync(inHome(path), "utf8")
const put = (path: string, content: string | Buffer, mode = 0o644) => {
  mkdirSync(dirname(inHome(path)), { recursive: true })
  writeFileSync(inHome(path), content)
  chmodSync(inHome(path), mode)
}
const mode = (path: string) => statSync(inHome(path)).mode & 0o777
const setup = (node = "/opt/node", known: readonly FileSetup[] = agents) =>
  makeSetup({
    agents: known,
    machine: { os: "linux", homeDir: dir, env: {} },
    clock: { nowMs: () => nowMs++ },
    program: { node, entry: "/opt/throughline.js", hook: inHome("tl/hook.sh"), env: {} },
    places: {
      hook: inHome("tl/hook.sh"),
      spoolDir: inHome("tl/spool"),
      socket: inHome("tl/daemon.sock"),
      backupsDir: inHome("tl/backups"),
      record: inHome("tl/setup.json"),
    },
  })
const SETTINGS = ".claude/settings.json"
const ORIGINAL = '{\n\t"model": "opus" // "mine"\n}'

describe("setup", () => {
  test("shows what it would do, and does nothing", () => {
    put(SETTINGS, ORIGINAL)
    const plan = setup().plan("claude-code")
    expect(plan.map(({ path, kind }) => [path, kind])).toEqual([
      [inHome(SETTINGS), "change"],
      [inHome(".claude.json"), "create"],
    ])
    expect(plan[0]!.diff).toContain('+ \t"hooks": {')
    expect(text(SETTINGS)).toBe(ORIGINAL)
    expect(readdirSync(dir)).toEqual([".claude"])
  })

  test("keeps the file's mode, and a backup that only its owner can read", () => {
    put(SETTINGS, ORIGINAL, 0o640)
    setup().apply("claude-code")
    expect(text(SETTINGS)).toContain("hook.sh")
    expect([
      mode(SETTINGS),
      mode(".claude.json"),
      mode("tl/hook.sh"),
      mode("tl/setup.json"),
      mode("tl/backups"),
    ]).toEqual([0o640, 0o600, 0o700, 0o600, 0o700])
    const [folder] = readdirSync(inHome("tl/backups"))
    expect(text(`tl/backups/${folder}/1-settings.json`)).toBe(ORIGINAL)
    expect(mode(`tl/backups/${folder}/1-settings.json`)).toBe(0o600)
    expect(readdirSync(inHome(".claude"))).toEqual(["settings.json"])
  })

  test("leaves a link a link", () => {
    put("dotfiles/claude.json", ORIGINAL)
    mkdirSync(inHome(".claude"))
    symlinkSync(inHome("dotfiles/claude.json"), inHome(SETTINGS))
    setup().apply("claude-code")
    expect(lstatSync(inHome(SETTINGS)).isSymbolicLink()).toBe(true)
    expect(text("dotfiles/claude.json")).toContain("hook.sh")
    setup().undo("claude-code")
    expect(lstatSync(inHome(SETTINGS)).isSymbolicLink()).toBe(true)
    expect(text("dotfiles/claude.json")).toBe(ORIGINAL)
  })

  test("writes nothing at all when one of the files is malformed", () => {
    put(SETTINGS, ORIGINAL)
    put(".claude.json", '{"a": }')
    expect(() => setup().apply("claude-code")).toThrow(/\.claude\.json:1:7: /)
    expect([text(SETTINGS), text(".claude.json")]).toEqual([ORIGINAL, '{"a": }'])
    expect(setup().agents()[0]).toMatchObject({ platform: "claude-code", state: "unreadable" })
  })

  test("says of each agent whether it is here and ready", () => {
    put(SETTINGS, ORIGINAL)
    const states = () =>
      setup()
        .agents()
        .map(({ platform, found, state }) => `${platform} ${found} ${state}`)
    const expected = (known: Record<string, string>) =>
      agents.map(({ platform }) => `${platform} ${known[platform] ?? "false not set up"}`)
    expect(states()).toEqual(expected({ "claude-code": "true not set up" }))
    setup().apply("claude-code")
    setup().apply("opencode")
    rmSync(inHome(".config/opencode/plugins/throughline.js"))
    expect(states()).toEqual(expected({ "claude-code": "true ready", opencode: "true partly" }))
  })

  test("renews the hook script also where no file of the agent changes", () => {
    setup().apply("cursor")
    writeFileSync(inHome("tl/hook.sh"), "old")
    expect(setup().apply("cursor")).toEqual([])
    expect(text("tl/hook.sh")).toContain("#!/bin/sh")
    expect(mode("tl/hook.sh")).toBe(0o700)
  })
})

describe.each(agents.map(({ platform }) => platform))("undoing %s", (platform) => {
  /** Two lives of every file: as somebody has it, and not there at all. */
  const originals: Record<string, Record<string, string>> = {
    "claude-code": { [SETTINGS]: ORIGINAL, ".claude.json": '{"a":1,"mcpServers":{}}' },
    codex: { ".codex/config.toml": 'model = "x" # mine', ".codex/hooks.json": '{"hooks":{}}' },
    "gemini-cli": { ".gemini/settings.json": '{ "hooks": { "AfterAgent": [] } }\r\n' },
    cursor: { ".cursor/mcp.json": "{}", ".cursor/hooks.json": '{"version":1}' },
    opencode: { ".config/opencode/opencode.json": '{\n    "theme": "x",\n}\n' },
  }
  const planned = () => setup().plan(platform)
  const original = () =>
    originals[platform] ?? Object.fromEntries(planned().map(({ path }) => [relative(dir, path), '{"a":1}\n']))

  test("puts back every byte", () => {
    const files = original()
    for (const [path, content] of Object.entries(files)) put(path, content)
    setup().apply(platform)
    for (const [path, content] of Object.entries(files)) expect(text(path)).not.toBe(content)
    const changes = setup().undo(platform)
    expect(changes.every(({ kind }) => kind === "restore" || kind === "delete")).toBe(true)
    for (const [path, content] of Object.entries(files)) expect(text(path)).toBe(content)
    expect(JSON.parse(text("tl/setup.json"))).toEqual({ version: 1, agents: {} })
  })

  test("deletes the files that it made", () => {
    const made = setup()
      .apply(platform)
      .map(({ path }) => path)
    setup().undo(platform)
    for (const path of made) expect(() => readFileSync(path)).toThrow("ENOENT")
  })

  test("puts back every byte also after a second setup with another program", () => {
    const files = original()
    for (const [path, content] of Object.entries(files)) put(path, content)
    setup().apply(platform)
    expect(setup("/usr/bin/node").apply(platform).length).toBeGreaterThan(0)
    setup("/usr/bin/node").undo(platform)
    for (const [path, content] of Object.entries(files)) expect(text(path)).toBe(content)
  })

  test("takes out only what is ours when somebody else has written since", () => {
    const files = original()
    for (const [path, content] of Object.entries(files)) put(path, content)
    setup().apply(platform)
    for (const path of Object.keys(files)) {
      const after = text(path)
      const isToml = path.endsWith(".toml")
      writeFileSync(
        inHome(path),
        isToml ? `${after}\n[foreign]\nkept = true\n` : after.replace("{", '{"foreign": "kept",'),
      )
    }
    setup().undo(platform)
    for (const path of Object.keys(files)) {
      expect(text(path)).toContain("foreign")
      expect(text(path)).not.toMatch(/throughline|hook\.sh/)
    }
    expect(
      setup()
        .agents()
        .find((agent) => agent.platform === platform)?.state,
    ).toBe("not set up")
  })

  test("needs no record", () => {
    setup().apply(platform)
    rmSync(inHome("tl/setup.json"))
    setup().undo(platform)
    expect(
      setup()
        .agents()
        .find((agent) => agent.platform === platform)?.state,
    ).toBe("not set up")
  })
})

test("what others wrote between two setups is not undone with ours", () => {
  put(SETTINGS, ORIGINAL)
  setup().apply("claude-code")
  writeFileSync(
    inHome(SETTINGS),
    text(SETTINGS).replace("opus", "sonnet").replaceAll("hook.sh claude-code", "hook.sh old"),
  )
  setup().apply("claude-code")
  setup().undo("claude-code")
  expect(text(SETTINGS)).toBe(ORIGINAL.replace("opus", "sonnet"))
})

test("an agent that is not known is named, with those that are", () => {
  expect(() => setup().plan("emacs")).toThrow(
    `agent must be one of ${agents.map(({ platform }) => platform).join(", ")}, got "emacs"`,
  )
})

test("bug: instructions taken out of one project were taken out of every other, too", () => {
  const at = (project: string) => setup(undefined, projectRules(inHome(project)))
  put("a/CLAUDE.md", "# A\n")
  put("b/CLAUDE.md", "# B\n")
  at("a").apply("claude-queue")
  at("b").apply("claude-queue")
  expect(
    at("b")
      .undo("claude-queue")
      .map(({ path }) => path),
  ).toEqual([inHome("b/CLAUDE.md")])
  expect(text("b/CLAUDE.md")).toBe("# B\n")
  expect(text("a/CLAUDE.md")).toContain("task_state")
  expect(at("a").undo("claude-queue")).toMatchObject([{ kind: "restore" }])
  expect(text("a/CLAUDE.md")).toBe("# A\n")
})

describe("the preview", () => {
  test("shows what changes with a little around it", () => {
    const before = "a\nb\nc\nd\ne\nf\ng\nh\n"
    expect(diffText(before, before.replace("b", "B").replace("g", "g\ng2"))).toBe(
      ["  a", "- b", "+ B", "  c", "  d", "  …", "  f", "  g", "+ g2", "  h"].join("\n"),
    )
    expect(diffText(null, "x\ny\n")).toBe("+ x\n+ y")
    expect(diffText("x\n", null)).toBe("- x")
  })
})
