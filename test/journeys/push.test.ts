import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { plantedSecrets } from "../../bench/redaction.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"
import { proves } from "../promises.ts"

interface Logged {
  status: string
  exchange_id: string
  log_file: string
  exchange_count: number
}
interface Extracted {
  sessions: {
    session_id: string
    native_id: string
    exchange_count: number
    exchanges: { user: string; ai: string; timestamp: string }[]
  }[]
}
interface Shown {
  session: { title: string; mcpRootUri?: string; promptCount: number }
  lineage: { kind: string; parentNativeId: string }[]
  turns: { kind: string; text: string }[]
}

let home: TestHome
let project: string
let agent: McpClient
beforeAll(async () => {
  home = makeHome({ THROUGHLINE_CAPTURE_EXCLUDE: "~/private" })
  project = join(home.env.HOME!, "shop")
  mkdirSync(project)
  await home.run("start")
  agent = await connect(home, { cwd: project })
})
afterAll(async () => {
  await agent.close()
  await home.dispose()
})

const log = (more: Record<string, unknown> = {}) =>
  agent.call<Logged>("log_conversation_exchange", {
    user_message: "Why is it slow?",
    ai_response: "It reads the file twice.",
    session_id: "chat-1",
    ...more,
  })

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let left = 100; left > 0; left--) {
    const found = await look()
    if (found !== undefined) return found
    await sleep(100)
  }
  throw new Error("it did not come")
}

describe(proves("capture.pushed"), () => {
  test("an exchange is in the log and in the archive when it is acknowledged, and the same one again is a duplicate", async () => {
    const first = await log({ timestamp: "2026-01-31T12:00:00Z", metadata: { topic: "speed" } })
    expect(first).toMatchObject({ status: "logged", exchange_count: 1 })
    expect(first.log_file).toBe(join(project, ".throughline/conversations/session-chat-1.jsonl"))
    const line = JSON.parse(readFileSync(first.log_file, "utf8"))
    expect(line).toMatchObject({
      type: "exchange",
      v: 1,
      session_id: "chat-1",
      user: "Why is it slow?",
      metadata: { topic: "speed" },
    })
    expect(readdirSync(join(project, ".throughline/conversations")).sort()).toEqual([
      ".gitignore",
      "README.md",
      "session-chat-1.jsonl",
    ])

    expect(await log()).toMatchObject({ status: "duplicate", exchange_id: first.exchange_id, exchange_count: 1 })
    expect(await log({ user_message: "And now?", ai_response: "Once." })).toMatchObject({
      status: "logged",
      exchange_count: 2,
    })
    expect(readFileSync(first.log_file, "utf8").trim().split("\n")).toHaveLength(2)
  })

  test("lines that an agent appends to its file are read, resets and resumptions included", async () => {
    const file = join(project, ".throughline/conversations/by-hand.jsonl")
    const lines = [
      {
        type: "exchange",
        timestamp: "2026-02-01T08:00:00Z",
        user: "Name the port",
        ai: "It is 4747.",
        session_id: "hand-1",
      },
      { type: "context_reset", timestamp: "2026-02-01T09:00:00Z", reason: "context_limit", session_id: "hand-1" },
      { type: "session_resume", timestamp: "2026-02-01T09:01:00Z", previous_session: "hand-1", new_session: "hand-2" },
      { type: "exchange", timestamp: "2026-02-01T09:02:00Z", user: "Go on", ai: "Gladly.", session_id: "hand-2" },
    ]
    appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
    const found = await until(async () => {
      const { sessions } = await agent
        .call<Extracted>("extract_session_history", { platform: "conversation-log", session_id: "hand-2" })
        .catch(() => ({ sessions: [] }))
      return sessions[0]
    })
    expect(found.exchanges).toMatchObject([{ user: "Go on", ai: "Gladly.", timestamp: "2026-02-01T09:02:00.000Z" }])
    const later = await home.json<Shown>("sessions", "show", found.session_id)
    expect(later.lineage).toEqual([{ kind: "resume", parentNativeId: "hand-1" }])
    const { sessions } = await agent.call<Extracted>("extract_session_history", {
      platform: "conversation-log",
      session_id: "hand-1",
    })
    const earlier = await home.json<Shown>("sessions", "show", sessions[0]!.session_id)
    expect(earlier.turns.map(({ kind, text }) => [kind, text])).toEqual([
      ["prompt", "Name the port"],
      ["reply", "It is 4747."],
      ["reset", "context_limit"],
    ])
    expect(earlier.session.mcpRootUri).toBe(`file://${project}`)
  })

  test("extraction takes a project and a number", async () => {
    const all = await agent.call<Extracted>("extract_session_history", {
      platform: "conversation-log",
      workspace_id: project,
    })
    expect(all.sessions.map(({ native_id }) => native_id).sort()).toEqual(["chat-1", "hand-1", "hand-2"])
    expect(
      (await agent.call<Extracted>("extract_session_history", { platform: "conversation-log", limit: 1 })).sessions,
    ).toHaveLength(1)
    mkdirSync(join(home.env.HOME!, "elsewhere"))
    const elsewhere = await agent.call<Extracted>("extract_session_history", {
      platform: "conversation-log",
      workspace_id: join(home.env.HOME!, "elsewhere"),
    })
    expect(elsewhere.sessions).toEqual([])
    expect(await agent.refused("extract_session_history", { platform: "notepad" })).toContain(
      'platform: unknown agent "notepad"',
    )
  })

  test("syncing reports the read files, or that exchanges must be logged", async () => {
    const sync = (args: Record<string, unknown>) =>
      agent.call<{ status: string; message: string; platform?: string }>("sync_conversation_history", args)
    expect(await sync({})).toMatchObject({ status: "push_required" })
    expect(await sync({ mode: "push" })).toMatchObject({ status: "ready" })
    expect(await sync({ platform: "codex" })).toMatchObject({ status: "push_required", platform: "codex" })
    expect(await sync({ platform: "conversation-log", session_id: "chat-1" })).toMatchObject({
      status: "synced",
      message: expect.stringContaining("chat-1 is kept"),
    })
    expect(await sync({ mode: "pull" })).toMatchObject({ status: "synced" })
    const claude = await connect(home, { cwd: project, env: { CLAUDE_CODE_SESSION_ID: "c1" } })
    expect(await claude.call("sync_conversation_history", {})).toMatchObject({
      status: "push_required",
      platform: "claude-code",
    })
    await claude.close()
  })
})

describe("content that must not be stored", () => {
  const secret = `ghp_${"aB3dE5fG7h".repeat(4).slice(0, 36)}`
  const bytes = (dir: string) =>
    Buffer.concat(
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
    )

  test(`${proves("capture.redacted")} A log file is no exception.`, async () => {
    const { log_file } = await log({
      user_message: `Use ${secret} please`,
      ai_response: `I will use ${secret}.`,
      session_id: "secret",
    })
    expect(readFileSync(log_file, "utf8")).toContain("[redacted:")
    expect(bytes(home.dir).includes(secret)).toBe(false)
    expect(bytes(project).includes(secret)).toBe(false)
  })

  test("500 secrets of 30 kinds in an agent's transcript reach no file, no answer and no export", async () => {
    const planted = plantedSecrets(1)
    expect(planted.length).toBeGreaterThanOrEqual(500)
    expect(new Set(planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(30)
    const folder = join(home.env.HOME!, ".claude/projects/-secrets")
    mkdirSync(folder, { recursive: true })
    const id = "77777777-2222-4333-8444-555555555555"
    const record = (text: string, index: number) => ({
      type: "user",
      uuid: `u${index}`,
      sessionId: id,
      timestamp: "2026-03-01T10:00:00.000Z",
      cwd: project,
      message: { role: "user", content: text },
    })
    appendFileSync(
      join(folder, `${id}.jsonl`),
      planted.map(({ text }, index) => `${JSON.stringify(record(text, index))}\n`).join(""),
    )
    await home.run("import")
    const shown = await home.run("sessions", "--json")
    const session = (
      JSON.parse(shown.stdout) as { sessions: { id: string; nativeId: string; turnCount: number }[] }
    ).sessions.find(({ nativeId }) => nativeId === id)!
    expect(session.turnCount).toBe(planted.length)
    const everything = [
      bytes(home.dir).toString("latin1"),
      shown.stdout,
      (await home.run("sessions", "show", session.id)).stdout,
      (await home.run("sessions", "export", session.id, "--format", "json")).stdout,
      (await home.run("sessions", "export", session.id)).stdout,
    ]
    for (const text of everything)
      expect(planted.filter(({ secret }) => text.includes(secret)).map(({ kind }) => kind)).toEqual([])
  })

  test(proves("capture.excluded"), async () => {
    const dir = join(home.env.HOME!, "private")
    mkdirSync(dir)
    const outsider = await connect(home, { cwd: dir })
    const answer = await outsider.refused("log_conversation_exchange", {
      user_message: "unspeakable",
      ai_response: "indeed",
      session_id: "p",
    })
    expect(answer).toContain("capture.exclude")
    const folder = join(home.env.HOME!, ".claude/projects/-private")
    mkdirSync(folder, { recursive: true })
    const id = "99999999-2222-4333-8444-555555555555"
    const record = {
      type: "user",
      uuid: "x",
      sessionId: id,
      timestamp: "2026-03-01T10:00:00.000Z",
      cwd: dir,
      message: { role: "user", content: "unspeakable" },
    }
    appendFileSync(join(folder, `${id}.jsonl`), `${JSON.stringify(record)}\n`)
    await outsider.close()
    await home.run("import")
    expect(bytes(home.dir).includes("unspeakable")).toBe(false)
  })

  test(proves("forget.for-good"), async () => {
    const transcripts = join(home.env.HOME!, ".claude/projects/-shop")
    mkdirSync(transcripts, { recursive: true })
    const id = "11111111-2222-4333-8444-555555555555"
    const line = (uuid: string, text: string) =>
      `${JSON.stringify({ type: "user", uuid, parentUuid: null, sessionId: id, timestamp: "2026-03-01T10:00:00.000Z", cwd: project, message: { role: "user", content: text } })}\n`
    appendFileSync(
      join(transcripts, `${id}.jsonl`),
      line("a", "keep the walrusword") + line("b", "and the ottersaying"),
    )
    await home.run("import")
    expect(bytes(home.dir).includes("walrusword")).toBe(true)
    const plan = await home.json<{ forgotten: boolean; turns: number }>(
      "forget",
      "--containing",
      "walrusword",
      "--dry-run",
    )
    expect(plan).toMatchObject({ forgotten: false, turns: 1 })
    expect(bytes(home.dir).includes("walrusword")).toBe(true)

    expect(await home.json("forget", "--containing", "walrusword", "--yes")).toMatchObject({
      forgotten: true,
      turns: 1,
      sessions: 0,
    })
    expect(bytes(home.dir).includes("walrusword")).toBe(false)
    appendFileSync(join(transcripts, `${id}.jsonl`), line("c", "a third one"))
    await home.run("stop")
    await home.run("import")
    expect(bytes(home.dir).includes("walrusword")).toBe(false)
    const { sessions } = await agent.call<Extracted>("extract_session_history", {
      platform: "claude-code",
      session_id: id,
    })
    expect(sessions[0]!.exchanges.map(({ user }) => user)).toEqual(["and the ottersaying", "a third one"])
    expect(existsSync(join(transcripts, `${id}.jsonl`))).toBe(true)
    expect((await home.run("forget", "--yes")).stderr).toContain("say what to forget")
  })
})
