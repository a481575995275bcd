import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import type { McpClient } from "../fixtures/mcp.ts"
import { type Transcript, transcriptOf } from "../fixtures/transcript.ts"

const SOON = { timeout: 90_000, interval: 200 }
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

interface Answer {
  status: string
  messageId: string
  answer?: string
  sessionId?: string
  from?: string
  to: string
  contextIsNew?: boolean
  reason?: string
}
interface Facts {
  pairs: {
    id: string
    process: string
    from?: string
    to: string
    sessionId?: string
    status: string
    messages: number
    createdAt: string
    lastUsedAt: string
    sessions: number
    messagesPerSession?: number
  }[]
  processes: { to: string }[]
  message?: Answer
}

/** Iris's own configuration and tools, one after another, as its users have them. Claude Code is the fake one. */
describe("somebody who comes from Iris", () => {
  let home: TestHome
  let talk: Transcript
  let frontend: McpClient
  let mobile: McpClient
  let backend: McpClient

  const dirOf = (team: string) => join(home.env.HOME!, "projects", team)
  const member = (team: string) =>
    talk.agent(`agent of ${team}`, { cwd: dirOf(team), env: { CLAUDE_PROJECT_DIR: dirOf(team) } })
  const ask = (from: McpClient, args: Record<string, unknown>) => from.call<Answer>("teams_ask", args)
  const status = (args = {}) => frontend.call<Facts>("teams_status", args)
  const pair = async (from: string | undefined, to: string) =>
    (await status()).pairs.find((one) => one.from === from && one.to === to)
  /** How `claude` was started each time: the folder, then the arguments. */
  const starts = () => {
    const log = join(home.env.HOME!, "claude-starts.log")
    return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []
  }

  beforeAll(async () => {
    home = makeHome()
    talk = transcriptOf("iris", home)
    const bin = join(home.env.HOME!, "bin")
    mkdirSync(bin)
    const fake = fileURLToPath(new URL("../fixtures/fake-stream-agent.ts", import.meta.url))
    const script = `#!/bin/sh\necho "$PWD $*" >> "$HOME/claude-starts.log"\nexec '${process.execPath}' '${fake}' "$@"\n`
    writeFileSync(join(bin, "claude"), script, { mode: 0o755 })
    home.env.PATH = [bin, home.env.PATH].join(delimiter)
    for (const team of ["frontend", "backend", "mobile"]) mkdirSync(dirOf(team), { recursive: true })
    await talk.cli("start")
    ;[frontend, mobile, backend] = [await member("frontend"), await member("mobile"), await member("backend")]
  })
  afterAll(async () => {
    for (const agent of [frontend, mobile, backend]) await agent?.close()
    await home.dispose()
  })

  test("teams import takes Iris's teams.json with comments, project, path, description, skipPermissions, color", async () => {
    const teams = `{
  "settings": { "idleTimeout": 300000, "maxProcesses": 10, "healthCheckInterval": 30000 }, // Iris's own
  "teams": {
    "frontend": {
      "project": "${dirOf("frontend")}", // REQUIRED - case-sensitive
      "path": "/an/old/place",
      "description": "Frontend team",
      "skipPermissions": true,
      "color": "#E91E63"
    },
    "backend": { "project": "${dirOf("backend")}", "description": "Backend team" },
    "mobile": { "path": "${dirOf("mobile")}" },
    "relative": { "project": "projects/backend" },
    "gone": { "project": "/nowhere/at/all" }
  }
}`
    writeFileSync(join(home.env.HOME!, "teams.json"), teams)
    talk.said("$ cat teams.json", teams)
    const { stdout } = await talk.cli("teams", "import", "teams.json")
    expect(stdout).toContain("Iris teams.json: 3 added (frontend, backend, mobile), 0 replaced.")
    expect(stdout).toContain("set: settings.maxProcesses = 10 (after the daemon's next start)")
    expect(stdout).toContain("set: settings.healthCheckInterval = 30000 (after the daemon's next start)")
    expect(stdout).toContain("set: teams.*.idleTimeout = 300000\n")
    expect(stdout).toMatch(/relative.*absolute/)
    expect(stdout).toMatch(/gone.*no such folder/)
    const listed = (await home.json<{ teams: Record<string, unknown>[] }>("teams")).teams
    expect(listed).toMatchObject([
      { name: "frontend", project: dirOf("frontend"), description: "Frontend team", color: "#E91E63" },
      { name: "backend", project: dirOf("backend"), description: "Backend team" },
      { name: "mobile", project: dirOf("mobile") },
    ])
    const config = readFileSync(join(home.dir, "config.json"), "utf8")
    expect(config).toMatch(/"idleTimeout": ?300000/)
    expect(config).toMatch(/"settings": ?\{\s*"maxProcesses": ?10,\s*"healthCheckInterval": ?30000\s*\}/)
  })

  test("Iris's settings have the same defaults, but for idleTimeout, which is an hour", async () => {
    const { stdout } = await talk.cli("config")
    expect(stdout).toMatch(/settings\.maxProcesses\s+10\b/)
    expect(stdout).toMatch(/settings\.healthCheckInterval\s+30000\b/)
    expect(stdout).toMatch(/settings\.idleTimeout\s+3600000\b/)
    expect(stdout).toMatch(/maintenance\.archiveAfterDays\s+90\b/)
  })

  test("nothing is started before the first question", async () => {
    expect(starts()).toEqual([])
    expect(await status()).toMatchObject({ pairs: [], processes: [] })
  })

  test("teams_ask takes team, question, fromTeam and timeout; the pair has one session, made with --session-id", async () => {
    talk.note("Frontend asks backend. (The agent is a mock that says what it is told to.)")
    const answer = await ask(frontend, {
      team: "backend",
      question: "What is your REST API for users? <<SAY GET /users>>",
      fromTeam: "frontend",
      timeout: 30_000,
    })
    expect(answer).toMatchObject({ status: "done", answer: "GET /users", from: "frontend", to: "backend" })
    expect(answer.sessionId).toMatch(UUID_4)
    const [started] = starts()
    expect(started).toMatch(new RegExp(`^${dirOf("backend")} .*--session-id ${answer.sessionId}`))
    for (const flag of [" -p ", "--verbose", "--input-format stream-json", "--output-format stream-json"])
      expect(started).toContain(flag)
  })

  test("the pair remembers, and its process is used again", async () => {
    const before = starts().length
    const next = await ask(frontend, { team: "backend", question: "<<RECALL next>>", fromTeam: "frontend" })
    expect(next).toMatchObject({ answer: expect.stringMatching(/^heard: .*GET \/users next$/) })
    expect(next.sessionId).toBe((await pair("frontend", "backend"))!.sessionId)
    expect(starts()).toHaveLength(before)
  })

  test("each direction and each asker has a session of its own, which knows nothing of the others", async () => {
    const other = await ask(mobile, { team: "backend", question: "<<RECALL mobile>>", fromTeam: "mobile" })
    expect(other.answer).toBe("heard: mobile")
    const back = await ask(backend, { team: "frontend", question: "<<RECALL back>>", fromTeam: "backend" })
    expect(back.answer).toBe("heard: back")
    const ids = [await pair("frontend", "backend"), await pair("mobile", "backend"), await pair("backend", "frontend")]
    expect(new Set(ids.map((one) => one!.sessionId)).size).toBe(3)
    expect(starts().at(-1), "skipPermissions of the team that answers").toContain("bypassPermissions")
    expect(starts()[0]).not.toContain("bypassPermissions")
  })

  test("fromTeam may be left out: an outsider's pair has none, and an agent's team is known by its folder", async () => {
    const outside = await talk.cli("ask", "backend", "<<SAY hello>>")
    expect(outside.stdout).toBe("hello\n")
    expect(await pair(undefined, "backend")).toMatchObject({ to: "backend", messages: 1 })
    expect(await ask(mobile, { team: "backend", question: "<<SAY hi>>" })).toMatchObject({ from: "mobile" })
  })

  test("teams_send_message takes toTeam, message, fromTeam, waitForResponse and timeout", async () => {
    const sent = { toTeam: "backend", fromTeam: "frontend" }
    const waited = await frontend.call<Answer>("teams_send_message", { ...sent, message: "<<SAY waited>>" })
    expect(waited).toMatchObject({ status: "done", answer: "waited" })
    const late = await frontend.call<Answer>("teams_send_message", {
      ...sent,
      message: "<<SLOW 1500>>",
      waitForResponse: false,
      timeout: 30_000,
    })
    expect(late).toMatchObject({ status: "queued", messageId: expect.stringMatching(/^m-/) })
    expect(late.answer).toBeUndefined()
    const state = async () => (await status({ messageId: late.messageId })).message
    await expect.poll(state, SOON).toMatchObject({ status: "done", answer: "1500" })
  })

  test("an answer that takes longer than the timeout is not lost: its state and id are returned", async () => {
    const late = await ask(frontend, { team: "backend", question: "<<SLOW 1500>>", fromTeam: "frontend", timeout: 100 })
    expect(["queued", "delivered", "running"]).toContain(late.status)
    expect(late.reason ?? "", "in words, and no internal name of a process").not.toMatch(/\d{3,}/)
    const state = async () => (await status({ messageId: late.messageId })).message
    await expect.poll(state, SOON).toMatchObject({ status: "done", answer: "1500" })
  })

  test("teams_notify takes toTeam, message, fromTeam and ttlDays, 30 by default", async () => {
    const notify = (more: object) =>
      frontend.call<{ messageId: string; expiresAt: string }>("teams_notify", {
        toTeam: "backend",
        message: "The schema changes.",
        fromTeam: "frontend",
        ...more,
      })
    const days = ({ expiresAt }: { expiresAt: string }) => Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)
    expect(days(await notify({}))).toBe(30)
    expect(days(await notify({ ttlDays: 7, message: "And again." }))).toBe(7)
    expect((await talk.cli("notices")).stdout).toContain("The schema changes.")
  })

  test("only configured teams can be asked, and no caller asks in another team's name", async () => {
    expect(await frontend.refused("teams_ask", { team: "nobody", question: "x" })).toContain('no team "nobody"')
    expect(await frontend.refused("teams_ask", { team: "backend", question: "x", fromTeam: "nobody" })).toContain(
      "nobody",
    )
    expect(await mobile.refused("teams_ask", { team: "backend", question: "x", fromTeam: "frontend" })).toContain(
      "you are of mobile",
    )
  })

  test("sessions, messages and times survive a kill of the daemon, and continue with --resume", async () => {
    const before = (await pair("frontend", "backend"))!
    expect(before).toMatchObject({ status: "active", messages: 5 })
    await home.kill()
    await talk.cli("start")
    expect(await pair("frontend", "backend")).toEqual({ ...before, process: "asleep" })
    const next = await ask(frontend, { team: "backend", question: "<<RECALL on>>", fromTeam: "frontend" })
    expect(next.answer).toMatch(/GET \/users .*on$/)
    expect(next.sessionId).toBe(before.sessionId)
    expect(starts().at(-1)).toContain(`--resume ${before.sessionId}`)
    const after = (await pair("frontend", "backend"))!
    expect(after.messages).toBe(6)
    expect(Date.parse(after.lastUsedAt)).toBeGreaterThan(Date.parse(before.lastUsedAt))
  })

  test("status lists the pairs of all teams or of one, and analytics shows who asks whom most", async () => {
    expect((await talk.cli("teams", "status")).stdout).toContain("backend")
    const of = await status({ team: "frontend" })
    expect(of.pairs.every(({ from, to }) => from === "frontend" || to === "frontend")).toBe(true)
    const one = (await pair("frontend", "backend"))!
    expect(one).toMatchObject({ messages: 6, sessions: 1, messagesPerSession: 6 })
    expect(Date.parse(one.createdAt)).toBeLessThan(Date.parse(one.lastUsedAt))
    const threads = (await talk.cli("teams", "threads")).stdout
    expect(threads).toMatch(/FROM +TO +THREAD +MESSAGES +PER SESSION +STATUS +PROCESS +CREATED/)
    expect(threads).toMatch(new RegExp(`frontend +backend +main +6 +6 +active .*${one.createdAt.slice(0, 10)}`))
    const report = await home.json<{
      total: { sessions: number; prompts: number; promptsPerSession: number }
      pairs: { from?: string; to: string; asks: number }[]
      lasted: unknown
    }>("analytics")
    const { prompts, sessions, promptsPerSession } = report.total
    expect(promptsPerSession).toBe(Math.round((prompts / sessions) * 10) / 10)
    expect(promptsPerSession).toBeGreaterThan(0)
    expect(report.pairs[0]).toMatchObject({ from: "frontend", to: "backend" })
    expect(report.lasted).toBeDefined()
    expect((await talk.cli("analytics")).stdout).toMatch(/frontend.*backend/)
  })

  test("if no session can be created, the question fails with the agent's error, which is stored with it", async () => {
    const program = join(home.env.HOME!, "bin/claude")
    const working = readFileSync(program)
    writeFileSync(program, "#!/bin/sh\necho 'no room to start' >&2\nexit 1\n")
    const failed = await ask(backend, { team: "mobile", question: "x", fromTeam: "backend" })
    expect(failed).toMatchObject({ status: "failed", reason: expect.stringContaining("no room to start") })
    const { stdout } = await talk.cli("teams", "status", "--message-id", failed.messageId)
    expect(stdout).toContain("no room to start")
    writeFileSync(program, working)
    const next = await ask(backend, { team: "mobile", question: "<<SAY now>>", fromTeam: "backend" })
    expect(next).toMatchObject({ status: "done", answer: "now" })
  })
})
