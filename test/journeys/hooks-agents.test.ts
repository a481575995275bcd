import { execFile, execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  agents,
  CLAUDES,
  claudeEnv,
  pretendPluginPackage,
  runCodex,
  runGemini,
  runOpencode,
} from "../fixtures/agents.ts"
import { ask, makeHome, type TestHome } from "../fixtures/daemon.ts"
import { type ReceivedHook, receivedHooks } from "../fixtures/hooks.ts"
import {
  anthropicMessages,
  type ModelApi,
  startModelApi,
  steps,
  text,
  toolUse,
  type Wire,
  wordsOf,
} from "../fixtures/model-api.ts"
import { openaiChat } from "../fixtures/model-api-chat.ts"
import { geminiContent } from "../fixtures/model-api-gemini.ts"
import { openaiResponses } from "../fixtures/model-api-responses.ts"

interface Shown {
  session: { platform: string; nativeId: string; projectPath: string; mcpRootUri: string }
  lineage: { kind: string; parentNativeId: string }[]
  runs: { start?: string; end?: string; pid?: number; pane?: string }[]
}

/** Some agents take seconds to start, and longer where much else runs. */
const SLOW_MS = 240_000
const DRAWN_MS = 15_000
const SOON = { timeout: 60_000, interval: 100 }

const named = (hooks: ReceivedHook[]) =>
  hooks.map((hook) => [hook.event, hook.start ?? hook.end].filter(Boolean).join(" "))

async function show(home: TestHome, nativeId: string): Promise<Shown> {
  const call = async <T>(name: string, input: object) =>
    (await ask(home, { path: `/api/${name}`, body: JSON.stringify(input), socket: true })).json<T>()
  const listed = async () =>
    (await call<{ sessions: { id: string; nativeId: string }[] }>("sessions.list", {})).sessions.find(
      (session) => session.nativeId === nativeId,
    )
  await expect.poll(listed, SOON).toBeDefined()
  return call("sessions.show", { sessionId: (await listed())!.id })
}

function prepared(wire: Wire) {
  const made = { home: undefined as unknown as TestHome, model: undefined as unknown as ModelApi, cwd: "" }
  beforeAll(async () => {
    made.home = makeHome()
    made.model = await startModelApi(wire)
    made.cwd = join(made.home.env.HOME!, "lake")
    mkdirSync(made.cwd)
  })
  afterAll(async () => {
    await made.model.close()
    await made.home.dispose()
  })
  return made
}

describe.each(CLAUDES)("Claude Code $version, set up", ({ name }) => {
  const made = prepared(anthropicMessages)
  const settings = () => join(made.home.env.HOME!, ".claude", "settings.json")
  const MINE =
    '{\n\t"includeCoAuthoredBy": false, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}'

  beforeAll(async () => {
    mkdirSync(join(made.home.env.HOME!, ".claude"))
    writeFileSync(settings(), MINE)
    await made.home.json("setup", "claude-code", "--yes")
  })

  const run = async (prompt: string, ...args: string[]) => {
    const { home, model, cwd } = made
    const { stdout } = await promisify(execFile)(
      agents.claude(name),
      ["-p", prompt, "--output-format", "json", "--allowedTools", "mcp__throughline__*", ...args],
      { cwd, env: claudeEnv(home, model.url, cwd), timeout: 60_000, killSignal: "SIGKILL", input: "" } as object,
    )
    return JSON.parse(String(stdout)) as { session_id: string; is_error: boolean }
  }
  let nativeId: string

  test("tells of its turn, and has the tools", async () => {
    const { home, model, cwd } = made
    model.script(
      steps(
        [toolUse("mcp__throughline__init", { operation: "start_new", title: "By setup" })],
        [toolUse("mcp__throughline__thought", { thought: "Set up.", nextThoughtNeeded: false })],
        [text("Done.")],
      ),
    )
    const answer = await run("Think.")
    nativeId = answer.session_id
    expect(answer.is_error).toBe(false)
    await expect
      .poll(() => named(receivedHooks(home)), SOON)
      .toEqual(["SessionStart startup", "UserPromptSubmit", "PostToolUse", "PostToolUse", "Stop", "SessionEnd other"])
    expect(new Set(receivedHooks(home).map((hook) => hook.session))).toEqual(new Set([nativeId]))
    expect(receivedHooks(home)[2]).toMatchObject({ tool_name: "mcp__throughline__init" })
    expect(wordsOf(receivedHooks(home))).not.toContain("Think.")
    const { sessions } = await home.json<{ sessions: { title: string; thoughtCount: number }[] }>("sessions")
    expect(sessions).toContainEqual(expect.objectContaining({ title: "By setup", thoughtCount: 1 }))
    expect(await show(home, nativeId)).toMatchObject({
      session: { platform: "claude-code", nativeId, projectPath: cwd, mcpRootUri: `file://${cwd}` },
      lineage: [],
      runs: [{ start: "startup", end: "other", pid: expect.any(Number) }],
    })
  })

  test("nothing of ours reaches its model but the tools and their instructions", () => {
    const words = wordsOf(made.model.requests[0]!.body)
    expect(words).toContain("mcp__throughline__")
    expect(words).not.toMatch(/hook\.sh|throughline-hook|hook success/i)
  })

  test("resumed, it is the same session in another process", async () => {
    made.model.script(() => [text("Again.")])
    expect((await run("Go on.", "--resume", nativeId)).session_id).toBe(nativeId)
    await expect.poll(async () => (await show(made.home, nativeId)).runs.at(-1)?.end, SOON).toBe("other")
    const { runs, lineage } = await show(made.home, nativeId)
    expect(runs.map(({ start }) => start)).toEqual(["startup", "resume"])
    expect(runs[0]!.pid).not.toBe(runs[1]!.pid)
    expect(lineage).toEqual([])
  })

  test("cleared in a terminal, the new session comes from the old one", { timeout: SLOW_MS }, async () => {
    const { home, model, cwd } = made
    model.script(() => [text("Hello.")])
    const socket = join(home.env.HOME!, "tmux")
    const tmux = (...args: string[]) =>
      execFileSync("tmux", ["-S", socket, ...args], { env: claudeEnv(home, model.url, cwd) })
    // What comes before it has its input line is lost.
    const patiently = { ...SOON, interval: 1_000 }
    const types = async (words: string) => {
      let typedAtMs = 0
      await expect
        .poll(() => {
          const screen = tmux("capture-pane", "-p").toString()
          // A slow machine draws it late, and what is typed again by then is there twice.
          if (!screen.includes(words) && Date.now() - typedAtMs > DRAWN_MS) {
            tmux("send-keys", "-l", words)
            typedAtMs = Date.now()
          }
          return screen
        }, patiently)
        .toContain(words)
    }
    const entered = <T>(look: () => T) =>
      expect.poll(() => {
        tmux("send-keys", "Enter")
        return look()
      }, patiently)
    const starts = () =>
      receivedHooks(home)
        .filter((hook) => hook.event === "SessionStart")
        .slice(2)
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-c", cwd, agents.claude(name))
    try {
      await expect.poll(() => named(starts()), { ...SOON, timeout: 60_000 }).toEqual(["SessionStart startup"])
      await types("Hello")
      await entered(() => receivedHooks(home).at(-1)?.event).toBe("Stop")
      await types("/clear")
      await entered(() => named(starts())).toEqual(["SessionStart startup", "SessionStart clear"])
    } finally {
      tmux("kill-server")
    }
    const [first, second] = starts().map((hook) => hook.session!)
    expect(await show(home, second!)).toMatchObject({
      lineage: [{ kind: "clear", parentNativeId: first }],
      runs: [{ start: "clear", pane: `${socket} %0` }],
    })
    expect((await show(home, first!)).runs).toMatchObject([{ start: "startup", end: "clear" }])
  })

  test("set up no more, its files have nothing of ours", async () => {
    await made.home.json("unsetup", "claude-code", "--yes")
    expect(readFileSync(settings(), "utf8")).toBe(MINE)
    const state = readFileSync(join(made.home.env.HOME!, ".claude.json"), "utf8")
    expect(state).toContain("hasCompletedOnboarding")
    expect(JSON.parse(state)).not.toHaveProperty("mcpServers")
    // By its session: the terminal that was closed above may say goodbye only now.
    const { session_id } = await run("Quiet.")
    expect(receivedHooks(made.home).filter(({ session }) => session === session_id)).toEqual([])
  })
})

describe("Codex, set up", () => {
  const made = prepared(openaiResponses)

  test("tells of its turn once its hooks are trusted, and has the tools", { timeout: SLOW_MS }, async () => {
    const { home, model, cwd } = made
    const [{ afterwards }] = await home.json<[{ afterwards: string }]>("setup", "codex", "--yes")
    expect(afterwards).toContain("trust")
    // Codex runs none of them until a person trusts them, so that it is not ready yet.
    const overview = (await home.run("setup")).stdout
    expect(overview).toMatch(/codex +Codex +yes +ready, but hooks not trusted/)
    expect(overview).toContain("Start `codex` once and trust Throughline's hooks")
    await home.run("start")
    model.script(() => [text("Hello.")])
    // Where much else runs, the server may not be there in the time that it gives to one.
    const patient = ["-c", "mcp_servers.throughline.startup_timeout_sec=60"]
    const run = (...more: string[]) =>
      runCodex({ home, modelUrl: model.url, cwd, prompt: "Hello?", args: [...patient, ...more] })
    expect((await run()).code).toBe(0)
    expect(receivedHooks(home)).toEqual([])
    const { nativeSession } = await run("--dangerously-bypass-hook-trust")
    await expect
      .poll(() => named(receivedHooks(home)), SOON)
      .toEqual(["SessionStart startup", "UserPromptSubmit", "Stop", "SessionEnd other"])
    expect(receivedHooks(home).map(({ unattended }) => unattended)).toEqual(Array(4).fill("true"))
    expect(model.requests.at(-1)!.tools.map((tool) => tool.name)).toContain("mcp__throughline")
    expect((await show(home, nativeSession)).runs).toMatchObject([{ start: "startup", end: "other" }])
    await home.json("unsetup", "codex", "--yes")
    for (const file of ["config.toml", "hooks.json"])
      expect(existsSync(join(home.env.HOME!, ".codex", file))).toBe(false)
  })
})

describe("Gemini CLI, set up", () => {
  const made = prepared(geminiContent)

  test("tells of its turn", { timeout: SLOW_MS }, async () => {
    const { home, model, cwd } = made
    await home.json("setup", "gemini-cli", "--yes")
    await home.run("start")
    model.script(() => [text("Hello.")])
    const { code, nativeSession, stderr } = await runGemini({ home, modelUrl: model.url, cwd, prompt: "Hello?" })
    expect([code, /hook/i.test(stderr)]).toEqual([0, false])
    const hooks = () => named(receivedHooks(home)).filter((name) => name !== "PreCompress")
    await expect.poll(hooks, SOON).toEqual(["SessionStart startup", "BeforeAgent", "AfterAgent", "SessionEnd exit"])
    expect((await show(home, nativeSession)).runs).toMatchObject([{ start: "startup", end: "exit" }])
  })
})

describe("opencode, set up", () => {
  const made = prepared(openaiChat)
  const OPENCODE_EVENTS = ["plugin.loaded", "session.created startup", "chat.message", "session.idle"]

  test("tells of its turn, and has the tools", { timeout: SLOW_MS }, async () => {
    const { home, model, cwd } = made
    await home.json("setup", "opencode", "--yes")
    await home.run("start")
    pretendPluginPackage(home)
    model.script(() => [text("Hello.")])
    const { code, nativeSession } = await runOpencode({ home, modelUrl: model.url, cwd, prompt: "Hello?" })
    expect(code).toBe(0)
    await expect.poll(() => named(receivedHooks(home)), SOON).toEqual(OPENCODE_EVENTS)
    expect(receivedHooks(home)[1]!.session).toBe(nativeSession)
    expect(model.requests[0]!.tools.map((tool) => tool.name)).toContain("throughline_thought")
  })
})
