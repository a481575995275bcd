import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parse } from "jsonc-parser"
import { parse as parseToml } from "smol-toml"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Failure } from "../../../domain/failure.ts"
import { promptHash } from "../../../domain/ids.ts"
import type { Machine } from "../../../domain/platform.ts"
import type { AgentSetup, FileEdit, Program } from "../../../domain/setup.ts"
import { agentSetups as agents } from "../../list.ts"

interface Example {
  /** The file with the hooks or the server, as somebody has it who uses more than us. */
  file: string
  before: string
  /** What must still be there. */
  kept: string[]
  malformed: { text: string; place: string }
}

const examples: Record<string, Example[]> = {
  "claude-code": [
    {
      file: ".claude/settings.json",
      before: `{
  // which model
  "model": "opus", /* the big one */
  "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
  "hooks": {
    "Stop": [
      { "matcher": "", "hooks": [{"type": "command", "command": "say done"}] } // mine
    ],
    "PreToolUse": [] // none yet
  }
}
`,
      kept: ["// which model", "/* the big one */", '{"allow": ["Bash(ls:*)"], "deny": []}', "say done", "// mine"],
      malformed: { text: '{\n  "model": "opus"\n  "hooks": {}\n}\n', place: "3:3" },
    },
    {
      file: ".claude.json",
      before: '{"numStartups":3,"mcpServers":{"other":{"type":"http","url":"http://localhost:1"}},"userID":"x"}',
      kept: ['{"other":{"type":"http","url":"http://localhost:1"}', '"userID":"x"}'],
      malformed: { text: '{"mcpServers":[]}', place: "1:15" },
    },
  ],
  codex: [
    {
      file: ".codex/hooks.json",
      before: '{\n\t"hooks": {\n\t\t"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}],\n\t},\n}\n',
      kept: ['[{"hooks": [{"type": "command", "command": "beep"}]}', "\t},\n}"],
      malformed: { text: '{"hooks": {"Stop": {}}}', place: "1:20" },
    },
    {
      file: ".codex/config.toml",
      before: `# mine
model = "gpt-5" # the good one

[mcp_servers.other]
command = "other"
args = ["a", "b"]

[projects."/w/app"]
trust_level = "trusted"
`,
      kept: ["# mine", "# the good one", "[mcp_servers.other]", '[projects."/w/app"]\ntrust_level = "trusted"\n'],
      malformed: { text: 'model = "x"\n[broken\n', place: "2:8" },
    },
  ],
  "gemini-cli": [
    {
      file: ".gemini/settings.json",
      before:
        '{\r\n    "security": {"auth": {"selectedType": "gemini-api-key"}},\r\n    "mcpServers": {\r\n        "a": {"command": "a"} // first\r\n    }\r\n}\r\n',
      kept: ['"security": {"auth": {"selectedType": "gemini-api-key"}},\r\n', '"a": {"command": "a"}, // first\r\n'],
      malformed: { text: "[]", place: "1:1" },
    },
  ],
  cursor: [
    {
      file: ".cursor/hooks.json",
      before: '{ "version": 1, "hooks": { "stop": [ { "command": "./audit.sh" } ] } }\n',
      kept: ['"stop": [ { "command": "./audit.sh" }'],
      malformed: { text: '{ "version": 1,\n  "hooks": { "stop": [ }\n', place: "2:24" },
    },
    {
      file: ".cursor/mcp.json",
      before: '{\n  "mcpServers": {\n    // nothing yet\n  }\n}\n',
      kept: ["// nothing yet"],
      malformed: { text: '{"mcpServers": {"throughline": "?"}}', place: "1:32" },
    },
  ],
  opencode: [
    {
      file: ".config/opencode/opencode.jsonc",
      before:
        '{\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": { "x": { "type": "remote", "url": "u" }, }, // trailing\n}\n',
      kept: ['{ "x": { "type": "remote", "url": "u" },', "// trailing"],
      malformed: { text: "", place: "" },
    },
  ],
}

let homeDir: string
beforeEach(() => {
  homeDir = mkdtempSync(join(tmpdir(), "setup-"))
})
afterEach(() => rmSync(homeDir, { recursive: true }))

const machine = (env: Machine["env"] = {}): Machine => ({ os: "linux", homeDir, env })
const program: Program = {
  node: "/opt/node/bin/node",
  entry: "/opt/tl/bin/throughline.js",
  hook: "/h/a b/hook.sh",
  env: {},
}
const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const write = (edits: FileEdit[]) => {
  for (const { path, after } of edits) {
    if (after === null) rmSync(path)
    else put(path, after)
  }
}
const byPath = (edits: FileEdit[], path: string) => edits.find((edit) => edit.path === path)

test("rules of a person's own stay beside ours", () => {
  const claude = agents.find((agent) => agent.platform === "claude-code")!
  const path = join(homeDir, ".claude", "settings.json")
  put(path, '{\n  "permissions": { "allow": ["Bash(ls)"], "deny": ["Read(.env)"] }\n}\n')
  write(claude.plan(machine(), { ...program, allowTools: true }))
  expect(JSON.parse(readFileSync(path, "utf8")).permissions).toEqual({
    allow: ["Bash(ls)", "mcp__throughline"],
    deny: ["Read(.env)"],
  })
  write(claude.remove(machine(), program))
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ permissions: { allow: ["Bash(ls)"], deny: ["Read(.env)"] } })
})

test("Codex waits for a person to trust each of our hooks, and for no other", () => {
  const codex = agents.find((agent) => agent.platform === "codex")!
  const [hooks, config] = ["hooks.json", "config.toml"].map((name) => join(homeDir, ".codex", name)) as [string, string]
  put(hooks, JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: "mine" }] }] } }))
  write(codex.plan(machine(), program))
  const awaits = () => codex.awaits!(machine(), program)
  expect(awaits()).toBe("hooks not trusted")
  const events = Object.keys(JSON.parse(readFileSync(hooks, "utf8")).hooks)
  const settings = readFileSync(config, "utf8")
  const trusting = (names: string[]) =>
    names.map((event) => {
      const name = event.replaceAll(/(?<=.)[A-Z]/g, "_$&").toLowerCase()
      return `[hooks.state."${hooks}:${name}:${event === "Stop" ? 1 : 0}:0"]\ntrusted_hash = "sha256:0"\n`
    })
  put(config, settings + trusting(events.slice(1)).join(""))
  expect(awaits()).toBe("hooks not trusted")
  put(config, settings + trusting(events).join(""))
  expect(awaits()).toBeUndefined()
})

describe.each(agents.map((agent) => ({ platform: agent.platform, agent })))("$platform", ({ platform, agent }) => {
  test("on a machine without its files, makes them; done again, changes nothing", () => {
    const edits = agent.plan(machine(), program)
    expect(edits.length).toBeGreaterThan(0)
    for (const edit of edits) {
      expect(edit).toMatchObject({ before: null, after: expect.any(String), summary: expect.any(String) })
      expect(edit.path.startsWith(homeDir)).toBe(true)
      expect(edit.after).toMatch(/\n$/)
    }
    const all = edits.map((edit) => edit.after).join("\n")
    expect(all).toContain("/h/a b/hook.sh")
    expect(all).toContain(program.node)
    write(edits)
    expect(agent.plan(machine(), program)).toEqual([])
  })

  test("has a rule for our own tools, and for no others, when a person wants one", () => {
    const allowing = { ...program, allowTools: true }
    write(agent.plan(machine(), program))
    const edits = agent.plan(machine(), allowing)
    expect(edits.length > 0).toBe(agent.canAllowTools === true)
    for (const { after } of edits) expect(after).toMatch(/"mcp__throughline"|"trust": true|approval_mode = "approve"/)
    write(edits)
    expect(agent.plan(machine(), allowing)).toEqual([])
    expect(agent.plan(machine(), program), "who does not want one now keeps what is there").toEqual([])
    write(agent.remove(machine(), program))
    const left = edits.map(({ path }) => (existsSync(path) ? readFileSync(path, "utf8") : ""))
    expect(left.join("\n")).not.toMatch(/throughline|trust|approv|permissions/)
  })

  test("takes out all that it put in", () => {
    write(agent.plan(machine(), program))
    const removed = agent.remove(machine(), program)
    expect(removed.map(({ after }) => after?.trim() ?? null).filter((left) => left !== null && left !== "")).toEqual(
      removed.flatMap(({ path }) => (/(\.json|\.jsonc)$/.test(path) ? [expect.stringMatching(/^\{[^{}]*\}$/)] : [])),
    )
    write(removed)
    expect(agent.remove(machine(), program)).toEqual([])
  })

  test("brings a program that has moved up to date, and keeps what a person added", () => {
    write(agent.plan(machine(), program))
    const moved = { ...program, node: "/usr/bin/node", env: { THROUGHLINE_HOME: "/elsewhere" } }
    const edits = agent.plan(machine(), moved)
    expect(edits).toHaveLength(1)
    expect(edits[0]!.after).toContain("/usr/bin/node")
    expect(edits[0]!.after).toContain("/elsewhere")
    expect(edits[0]!.after).not.toContain(program.node)
    write(edits)
    expect(agent.plan(machine(), moved)).toEqual([])
  })

  describe.each(examples[platform] ?? [])("$file", ({ file, before, kept, malformed }) => {
    test("keeps the words, comments and layout that it finds", () => {
      const path = join(homeDir, file)
      put(path, before)
      const edits = agent.plan(machine(), program)
      const edit = byPath(edits, path)
      expect(edit?.before).toBe(before)
      for (const words of kept) expect(edit?.after).toContain(words)
      expect(isWithin(before, edit!.after!)).toBe(true)
      const [was, is] = [parsedFile(path, before), parsedFile(path, edit!.after!)]
      expect(is).toMatchObject(JSON.parse(JSON.stringify(was), withoutLists) as object)
      write(edits)
      expect(agent.plan(machine(), program)).toEqual([])
    })

    test("and taken out again, the file is what it was", () => {
      const path = join(homeDir, file)
      put(path, before)
      write(agent.plan(machine(), program))
      write(agent.remove(machine(), program))
      expect(readFileSync(path, "utf8")).toBe(before)
    })

    test.skipIf(malformed.text === "")("leaves a malformed one alone, and says where it is wrong", () => {
      const path = join(homeDir, file)
      put(path, malformed.text)
      const failure = caught(() => agent.plan(machine(), program))
      expect(failure).toMatchObject({ code: "setup_file_malformed" })
      expect(failure.message).toMatch(new RegExp(`^${path.replaceAll(".", "\\.")}:${malformed.place}: `))
      expect(readFileSync(path, "utf8")).toBe(malformed.text)
    })
  })
})

describe("where files are", () => {
  test.each([
    ["claude-code", { CLAUDE_CONFIG_DIR: "/c" }, ["/c/settings.json", "/c/.claude.json"]],
    ["codex", { CODEX_HOME: "/x" }, ["/x/hooks.json", "/x/config.toml"]],
    ["gemini-cli", { GEMINI_CLI_HOME: "/g" }, ["/g/.gemini/settings.json"]],
    ["cursor", { CURSOR_CONFIG_DIR: "/k" }, ["/k/hooks.json", "/k/mcp.json"]],
    ["opencode", { XDG_CONFIG_HOME: "/o" }, ["/o/opencode/opencode.json", "/o/opencode/plugins/throughline.js"]],
  ])("%s follows %j", (platform, env, paths) => {
    const agent = agents.find((one) => one.platform === platform)!
    expect(agent.plan(machine(env), program).map(({ path }) => path)).toEqual(paths)
  })
})

describe("what hooks say", () => {
  const read = (platform: string, payload: object, env: Record<string, string> = {}) =>
    agents.find((one) => one.platform === platform)!.read(payload as Record<string, unknown>, env)

  test("a start, an end, and the files to look at", () => {
    const common = { session_id: "s1", transcript_path: "/t/s1.jsonl", cwd: "/w" }
    expect(
      read(
        "claude-code",
        { ...common, hook_event_name: "SessionStart", source: "clear" },
        { PPID: "7", CLAUDE_PID: "9" },
      ),
    ).toEqual({
      name: "SessionStart",
      sessionId: "s1",
      cwd: "/w",
      pid: 9,
      start: "clear",
      transcripts: ["/t/s1.jsonl"],
      details: {},
    })
    expect(
      read("gemini-cli", { ...common, hook_event_name: "SessionEnd", reason: "exit" }, { PPID: "7" }),
    ).toMatchObject({
      pid: 7,
      end: "exit",
    })
    expect(
      read("claude-code", {
        ...common,
        hook_event_name: "SubagentStop",
        agent_transcript_path: "/t/a.jsonl",
        agent_id: "a",
      }),
    ).toMatchObject({ transcripts: ["/t/s1.jsonl", "/t/a.jsonl"], details: { agent_id: "a" } })
  })

  test("nothing of what was said", () => {
    const payload = {
      hook_event_name: "PostToolUse",
      session_id: "s",
      prompt: "secret",
      tool_name: "Bash",
      tool_input: { command: "secret" },
      tool_response: "secret",
      last_assistant_message: "secret",
      message: "secret",
    }
    for (const agent of agents) expect(JSON.stringify(agent.read(payload, {}))).not.toContain("secret")
  })

  test("Cursor's conversation and open folder", () => {
    const payload = { hook_event_name: "stop", conversation_id: "c1", workspace_roots: ["/w/app"], cwd: "/x" }
    expect(read("cursor", payload)).toMatchObject({ name: "stop", sessionId: "c1", cwd: "/w/app" })
  })

  test("opencode's child sessions", () => {
    const payload = { hook_event_name: "session.created", session_id: "ses_2", parent_id: "ses_1", cwd: "/w" }
    expect(read("opencode", payload)).toMatchObject({
      start: "startup",
      parent: { sessionId: "ses_1", kind: "subagent" },
    })
  })

  test("opencode's plugin that runs for one prompt, with nobody at it", () => {
    const payload = { hook_event_name: "session.created", session_id: "ses_2", cwd: "/w" }
    expect(read("opencode", { ...payload, unattended: true })).toMatchObject({ details: { unattended: "true" } })
    expect(read("opencode", payload).details).toEqual({})
  })

  test("anything at all", () => {
    for (const agent of agents)
      for (const payload of [{}, { session_id: 5, cwd: null, hook_event_name: [] }])
        expect(agent.read(payload, { PPID: "no" })).toMatchObject({ name: "", transcripts: [] })
  })
})

test("a person is told of an agent that does not read comments", () => {
  const path = join(homeDir, ".claude/settings.json")
  const { plan } = agents.find((one) => one.platform === "claude-code") as AgentSetup
  put(path, '{"model": "opus"}')
  expect(byPath(plan(machine(), program), path)?.summary).toBe("hooks for 13 events")
  put(path, '{"model": "opus" /* mine */}')
  expect(byPath(plan(machine(), program), path)?.summary).toContain("does not read this file while it has comments")
})

test("a key that stands twice in a file is refused, not guessed at", () => {
  const path = join(homeDir, ".claude/settings.json")
  put(path, '{"hooks": {}, "hooks": {"Stop": []}}')
  const { plan } = agents.find((one) => one.platform === "claude-code") as AgentSetup
  expect(caught(() => plan(machine(), program)).code).toBe("setup_file_malformed")
})

test("what is not UTF-8 is refused, because it could not be written back", () => {
  const path = join(homeDir, ".cursor/mcp.json")
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))
  const { plan } = agents.find((one) => one.platform === "cursor") as AgentSetup
  expect(caught(() => plan(machine(), program)).message).toContain("not UTF-8")
})

test("a byte order mark stays in front", () => {
  const path = join(homeDir, ".cursor/mcp.json")
  put(path, '\uFEFF{\n  "a": 1\n}\n')
  const { plan } = agents.find((one) => one.platform === "cursor") as AgentSetup
  expect(byPath(plan(machine(), program), path)?.after).toMatch(/^\uFEFF\{\n {2}"a": 1,\n {2}"mcpServers": \{/)
})

describe("Claude Code's background hook", () => {
  const { plan, remove, read } = agents.find((one) => one.platform === "claude-code") as AgentSetup
  const path = () => join(homeDir, ".claude/settings.json")
  const hooksOf = (text: string) =>
    (parse(text) as { hooks: Record<string, { hooks: { command: string; timeout: number; asyncRewake?: true }[] }[]> })
      .hooks
  const waiting = { command: "[ ! -x '/h/a b/hook.sh' ] || exec '/h/a b/hook.sh' claude-code wait" }

  test("waits after the events that leave a session idle, in the background and with a long time of its own", () => {
    write(plan(machine(), program))
    const hooks = hooksOf(readFileSync(path(), "utf8"))
    for (const [event, groups] of Object.entries(hooks)) {
      const all = groups.flatMap((group) => group.hooks)
      const hooks = all.filter(({ command }) => command === waiting.command)
      expect([event, hooks.length]).toEqual([event, event === "Stop" || event === "SessionStart" ? 1 : 0])
      expect(hooks.every(({ asyncRewake, timeout }) => asyncRewake === true && timeout >= 86_400)).toBe(true)
      expect(all.filter(({ asyncRewake }) => !asyncRewake)).toHaveLength(1)
    }
  })

  test("is added to a setup from before it, and taken out with the rest", () => {
    write(plan(machine(), program))
    const now = parse(readFileSync(path(), "utf8")) as { hooks: Record<string, { hooks: object[] }[]> }
    for (const event of ["Stop", "SessionStart"])
      now.hooks[event] = now.hooks[event]!.filter((group) => !JSON.stringify(group).includes(" wait"))
    put(path(), JSON.stringify(now))
    const edit = byPath(plan(machine(), program), path())!
    expect(edit.after!.match(/ claude-code wait/g)).toHaveLength(2)
    write([edit])
    expect(plan(machine(), program)).toEqual([])
    expect(byPath(remove(machine(), program), path())?.after).not.toContain("hook.sh")
  })

  test("what a prompt was is told by its hash and the messages in it, never by its words", () => {
    const prompt = "[Message m-0123456789abcdef from web, via Throughline]\nsecret m-0123456789abcdef\t\r\n"
    const { details } = read({ hook_event_name: "UserPromptSubmit", prompt }, {})
    expect(details).toEqual({ prompt_hash: promptHash(prompt.trimEnd()), message_ids: "m-0123456789abcdef" })
    expect(read({ hook_event_name: "Stop", stop_hook_active: true }, {}).details).toEqual({ stop_hook_active: "true" })
    expect(read({ hook_event_name: "PostToolUse", prompt: "x" }, {}).details).toEqual({})
  })

  test("what a turn ended with is told by a hash of its last reply, or by the name of its error", () => {
    const last_assistant_message = "Done.\n"
    expect(read({ hook_event_name: "Stop", last_assistant_message }, {}).details).toEqual({
      reply_hash: promptHash("Done."),
    })
    expect(read({ hook_event_name: "StopFailure", error: "rate_limit" }, {}).details).toEqual({ error: "rate_limit" })
    expect(read({ hook_event_name: "StopFailure", error: "what was said, in full" }, {}).details).toEqual({})
    expect(read({ hook_event_name: "PostToolUseFailure", error: "oops" }, {}).details).toEqual({})
  })
})

test("Codex's own table of ours is brought up to date with what a person wrote into it", () => {
  const path = join(homeDir, ".codex/config.toml")
  put(
    path,
    '[mcp_servers.throughline]\ncommand = "old"\nargs = ["old.js", "mcp", "--tools", "recall"]\nstartup_timeout_sec = 30\n\n[x]\ny = 1\n',
  )
  const { plan } = agents.find((one) => one.platform === "codex") as AgentSetup
  const edit = byPath(plan(machine(), program), path)!
  expect(parseToml(edit.after!)).toEqual({
    x: { y: 1 },
    mcp_servers: {
      throughline: {
        command: program.node,
        args: [program.entry, "mcp", "--tools", "recall"],
        startup_timeout_sec: 30,
      },
    },
  })
})

test("TOML that cannot be added to without touching the rest is refused", () => {
  const path = join(homeDir, ".codex/config.toml")
  put(path, 'mcp_servers = { a = { command = "a" } }\n')
  const { plan } = agents.find((one) => one.platform === "codex") as AgentSetup
  expect(caught(() => plan(machine(), program)).code).toBe("setup_file_malformed")
})

function caught(work: () => unknown): Failure {
  try {
    work()
  } catch (error) {
    return error as Failure
  }
  throw new Error("nothing was thrown")
}

/** Every character of one is in the other, in order. */
function isWithin(part: string, whole: string): boolean {
  let at = 0
  for (const character of whole) if (character === part[at]) at++
  return at === part.length
}

function parsedFile(path: string, text: string): unknown {
  return path.endsWith(".toml") ? parseToml(text) : parse(text, [], { allowTrailingComma: true })
}

/** Lists grow, which toMatchObject does not forgive. */
function withoutLists(_: string, value: unknown): unknown {
  return Array.isArray(value) ? undefined : value
}
