import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { runHook } from "../fixtures/hooks.ts"
import type { McpClient } from "../fixtures/mcp.ts"
import { type Transcript, transcriptOf } from "../fixtures/transcript.ts"

const SOON = { timeout: 90_000, interval: 200 }

interface Sent {
  queued: boolean
  id?: string
  target?: string
  reason?: string
}
interface Update {
  message_id: string | null
  type: string
  content: string
  created_at: string
}
interface Pulled {
  updates: Update[]
  session_restart: Record<string, unknown> | null
  next_since: string
}
interface Status {
  targets: { target: string; pending: number; in_progress: number; current_task?: string }[]
}

/** The bridge's own map, files, tools and instructions, one after another, as its users have them. */
describe("somebody who comes from the Nexus bridge", () => {
  let home: TestHome
  let talk: Transcript
  /** What claude.ai is: an MCP client over HTTP with the token. */
  let dispatcher: McpClient
  let agent: McpClient

  const dirOf = (chat: string) => join(home.env.HOME!, chat)
  const fileOf = (chat: string) => join(dirOf(chat), ".claude-session")
  /** As the agent's CLAUDE.md made it write on boot. */
  const boots = (chat: string, id: string, path = fileOf(chat)) => {
    const session = { id, started_at: "2026-03-30T08:15:00.123456", chat_id: "-1001", project: chat }
    talk.said(`$ cat > ${path}`, JSON.stringify(session))
    writeFileSync(path, JSON.stringify(session))
  }
  const send = (target: string, message: string) => dispatcher.call<Sent>("send_message", { target, message })
  const pull = (target: string, since?: string) =>
    dispatcher.call<Pulled>("pull_updates", { target, ...(since === undefined ? {} : { since }) })
  const restarts = async (target: string) =>
    (await pull(target)).updates.filter(({ type }) => type === "session_restart")
  const status = async () => (await dispatcher.call<Status>("queue_status", {})).targets
  const begins = (chat: string, session_id: string) =>
    runHook(home, { hook_event_name: "SessionStart", session_id, source: "startup", cwd: dirOf(chat) })

  beforeAll(async () => {
    home = makeHome()
    talk = transcriptOf("nexus", home)
    for (const chat of ["homelab", "felt", "sentry", ".claude"]) mkdirSync(dirOf(chat))
    for (const chat of ["homelab", "felt"]) {
      mkdirSync(join(dirOf(chat), ".claude"))
      writeFileSync(join(dirOf(chat), ".claude/CLAUDE.md"), `You look after ${chat}.\n`)
    }
    await talk.cli("start")
    dispatcher = await talk.agent("claude.ai", { transport: "http", cwd: "/", name: "Anthropic/ClaudeAI" })
  })
  afterAll(async () => {
    await agent?.close()
    await dispatcher?.close()
    await home.dispose()
  })

  test("teams import takes the chat map with workdir, claude_md, session_file and an empty chat_id", async () => {
    const entry = (chat: string) => ({
      chat_id: "",
      workdir: dirOf(chat),
      claude_md: join(dirOf(chat), ".claude/CLAUDE.md"),
      session_file: fileOf(chat),
    })
    const map = { homelab: entry("homelab"), felt: entry("felt"), sentry: entry("sentry") }
    writeFileSync(join(home.env.HOME!, "map.json"), JSON.stringify(map, null, 2))
    talk.said("$ cat map.json", JSON.stringify(map, null, 2))
    const { stdout } = await talk.cli("teams", "import", "map.json")
    expect(stdout).toContain("Nexus chat map: 3 added (homelab, felt, sentry), 0 replaced.")
    const { teams } = await home.json<{ teams: Record<string, unknown>[] }>("teams")
    expect(teams.map(({ name, project }) => [name, project])).toEqual([
      ["homelab", dirOf("homelab")],
      ["felt", dirOf("felt")],
      ["sentry", dirOf("sentry")],
    ])
    const config = JSON.parse((await home.run("config", "--json")).stdout) as object
    expect(JSON.stringify(config)).toContain(join(dirOf("homelab"), ".claude/CLAUDE.md"))
  })

  test("a missing claude_md is reported", async () => {
    const { troubles } = await home.json<{ troubles: string[] }>("teams")
    expect(troubles.join()).toContain(`teams.sentry.claude_md = "${dirOf("sentry")}/.claude/CLAUDE.md"`)
  })

  // homelab names a session file and has no hooks, so a note says that its agent has to ask.
  test("send_message answers queued, id and target, or queued: false with the bridge's own reasons", async () => {
    talk.note("claude.ai dispatches.")
    expect(await send("homelab", "Fix the DNS record")).toEqual({
      queued: true,
      id: expect.stringMatching(/^m-/),
      target: "homelab",
      note: "Its agent fetches its messages itself: it gets this when it asks.",
    })
    expect(await send("nowhere", "Hello")).toMatchObject({ queued: false, reason: "unknown target: nowhere" })
    expect(await send("homelab", "Fix the DNS record")).toMatchObject({ queued: false, reason: "duplicate" })
  })

  test("each chat has a queue of its own, and queue_status without parameters tells of all", async () => {
    await send("felt", "Update the Go backend")
    await send("felt", "Then release it")
    const counts = (await status()).map(({ target, pending, in_progress }) => [target, pending, in_progress])
    expect(counts).toEqual([
      ["homelab", 1, 0],
      ["felt", 2, 0],
      ["sentry", 0, 0],
    ])
  })

  test("a session file that names another session is one restart: update, warning and session_restart", async () => {
    talk.note("The agent writes its session file, dies, and writes another.")
    boots("homelab", "abc-123")
    // In the bridge's other place: every session overwrites it, so it belongs to none.
    boots("homelab", "stranger", join(home.env.HOME!, ".claude-session"))
    await expect
      .poll(async () => (await pull("homelab")).updates.map(({ type }) => type), SOON)
      .toContain("session_started")
    const before = await pull("homelab")
    expect(before.session_restart).toBeNull()
    boots("homelab", "def-456")
    await expect.poll(async () => (await restarts("homelab")).length, SOON).toBe(1)
    const [told] = await restarts("homelab")
    expect(told).toEqual({
      type: "session_restart",
      message_id: null,
      content: expect.stringMatching(
        /^⚠️ Agent session restarted \(session file\)\. Previous context lost\. Session: abc-123 → def-456/,
      ),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    const page = await pull("homelab", before.next_since)
    expect(page.session_restart).toMatchObject({
      old_session_id: "abc-123",
      new_session_id: "def-456",
      cause: "session file",
      pending_messages: [expect.stringMatching(/^m-/)],
    })
    expect(page.updates.filter(({ type }) => type === "session_restart")).toHaveLength(1)
  })

  test("a restart is reported once, even across a restart of the daemon, and to each reader from its own `since`", async () => {
    await home.kill()
    await home.run("start")
    await dispatcher.close()
    dispatcher = await talk.agent("claude.ai", { transport: "http", cwd: "/" })
    boots("homelab", "def-456")
    const page = await pull("homelab")
    expect(page.updates.filter(({ type }) => type === "session_restart")).toHaveLength(1)
    expect(await pull("homelab", page.next_since)).toMatchObject({ updates: [], session_restart: null })
    const since = page.updates[0]!.created_at
    expect((await pull("homelab", since)).updates.length).toBeGreaterThan(0)
    expect(await dispatcher.refused("pull_updates", { target: "nowhere" })).toContain("nowhere")
  })

  test("task_state keeps the bridge's keys, and queue_status names the task", async () => {
    talk.note("The agent saves its task after every step.")
    agent = await talk.agent("agent of felt", {
      cwd: dirOf("felt"),
      env: { CLAUDE_PROJECT_DIR: dirOf("felt"), CLAUDE_CODE_SESSION_ID: "felt-1" },
    })
    await home.json("setup", "claude-code", "--yes")
    await begins("felt", "felt-1")
    await agent.call("task_state", {
      operation: "save",
      current_task: "Fix nexus.mg DNS record",
      current_task_id: "msg-456",
      last_completed_step: 2,
      pending_messages: ["msg-789"],
    })
    expect(await agent.call("task_state", { operation: "load" })).toMatchObject({
      session_id: "felt-1",
      current_task: "Fix nexus.mg DNS record",
      current_task_id: "msg-456",
      last_completed_step: 2,
      pending_messages: ["msg-789"],
      updated_at: expect.stringMatching(/Z$/),
    })
    await expect
      .poll(async () => (await status()).find(({ target }) => target === "felt")?.current_task, SOON)
      .toBe("Fix nexus.mg DNS record")
  })

  test("the next session's hook reports the last one's task, and the question: resume or start fresh", async () => {
    await runHook(home, { hook_event_name: "SessionEnd", session_id: "felt-1", reason: "other", cwd: dirOf("felt") })
    const { output } = await begins("felt", "felt-2")
    talk.said("SessionStart hook, what the new session is told:", output)
    expect(output).toContain(
      "[Session restarted. Previous session was working on: Fix nexus.mg DNS record. Resume or start fresh?]",
    )
    for (const part of ["msg-456", "2", "msg-789"]) expect(output).toContain(part)
  })

  test("setup claude-queue writes the bridge's instructions for messages into CLAUDE.md", async () => {
    expect((await talk.cli("setup", "claude-queue", "--yes")).code).toBe(0)
    // Of the folder that it is typed in, which is the home folder here.
    const path = join(home.env.HOME!, "CLAUDE.md")
    const written = readFileSync(path, "utf8")
    for (const part of [
      "Save your task after every step",
      "[Session restarted. Previous session",
      "[New message received:",
      "[Responding to:",
      "URGENT or STOP",
      "halt at once",
      "take them in order",
      "words from the owner, and mail from others",
    ])
      expect(written).toContain(part)
    expect((await talk.cli("unsetup", "claude-queue", "--yes")).code).toBe(0)
    expect(existsSync(path)).toBe(false)
  })
})
