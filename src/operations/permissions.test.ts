import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import type { Caller } from "../domain/caller.ts"
import type { PermissionAnswer, PermissionRequest } from "../domain/driver.ts"
import type { Store } from "../domain/store.ts"
import { makePermits, type Permits } from "../permissions/permits.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { mcpTools } from "../surfaces/mcp/mcp.ts"
import { type Call, local } from "./invoke.ts"
import { operations } from "./list.ts"
import { audit, type PermissionView, permissionsAnswer, permissionsList, permissionText } from "./permissions.ts"
import type { Services } from "./services.ts"
import { waiting } from "./waiting.ts"

const PERSON: Caller = { surface: "cli" }
let dir: string
let store: Store
let permits: Permits
let call: Call
let stop: AbortController
let running: object[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "permissions-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  permits = makePermits({
    store,
    clock: { nowMs: () => Date.parse("2027-01-02T03:04:05Z") },
    settings: { timeoutMinutes: 30 },
    home: "here",
    redact: (text) => text,
    onTrouble: () => {},
  })
  running = []
  const services = {
    permits,
    live: { all: async () => running },
    sessions: { recovery: { get: async () => ({ title: "Fix the build" }) } },
    reach: { stuck: { list: async () => [] }, messages: { status: async () => [] } },
  }
  call = local(operations, services as unknown as Services)
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

async function asked(values: Partial<PermissionRequest> = {}) {
  const before = (await permits.waiting()).length
  const request = { tool: "Bash", title: "Bash: clean up", input: { command: "rm -r build" }, suggestions: [] }
  const context = { asker: "web → api", team: "api", sessionId: null }
  const answer: Promise<PermissionAnswer> = permits.permit({ ...request, ...values }, context, stop.signal)
  const { id } = await vi.waitFor(async () => {
    const waiting = await permits.waiting()
    expect(waiting).toHaveLength(before + 1)
    return waiting.at(-1)!
  })
  return { id, answer }
}
const rules = [
  { label: "allow /srv", value: 1 },
  { label: "mode acceptEdits", value: 2 },
]

test("no agent gets them as tools, and an agent that calls them all the same decides nothing", async () => {
  const names = operations.map(({ name }) => name)
  const mine = [permissionsList, permissionsAnswer, audit].map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(mine))
  const tools = mcpTools({ operations }).list.map(({ name }) => name)
  expect(tools.filter((tool) => mine.some((name) => tool === name || tool === name.replace(".", "_")))).toEqual([])
  const { id } = await asked()
  const agents: Caller[] = [
    { surface: "mcp" },
    { surface: "cli", agentShell: "claude-code" },
    { surface: "http", nativeSession: { platform: "codex", id: "n" } },
    { surface: "http", client: { name: "dashboard", version: "1" } },
  ]
  for (const agent of agents)
    await expect(call("permissions.answer", { id, answer: "allow" }, agent)).rejects.toMatchObject({
      code: "person_needed",
    })
  expect(await permits.waiting()).toHaveLength(1)
})

test("what waits is listed whole and answered; who comes late is told who was first", async () => {
  const { id, answer } = await asked({ suggestions: rules })
  const { permissions } = await call("permissions.list", {}, PERSON)
  expect(permissions).toEqual([
    {
      id,
      asker: "web → api",
      team: "api",
      tool: "Bash",
      title: "Bash: clean up",
      input: { command: "rm -r build" },
      suggestions: ["allow /srv", "mode acceptEdits"],
      questions: [],
      state: "waiting",
      askedAt: "2027-01-02T03:04:05.000Z",
      expiresAt: "2027-01-02T03:34:05.000Z",
    },
  ])
  const output = await call("permissions.answer", { id, answer: "always", which: 2 }, PERSON)
  expect(output).toMatchObject({
    accepted: true,
    permission: { state: "allowed", rule: "mode acceptEdits", answeredBy: "the owner" },
  })
  expect(await answer).toEqual({ behavior: "allow", always: 1 })
  const late = await call("permissions.answer", { id, answer: "deny" }, { surface: "http", isOwner: true })
  expect(late).toMatchObject({ accepted: false, permission: { answeredBy: "the owner" } })
  expect(permissionsAnswer.text(late as never, { id, answer: "deny", stop: false })).toMatch(
    /Too late.*allowed by the owner/,
  )
  expect(await call("permissions.list", {}, PERSON)).toEqual({ permissions: [], atTerminal: [] })
  expect((await call("permissions.list", { all: true }, PERSON)).permissions).toHaveLength(1)
})

test("always without a number works where one rule is offered, and only there", async () => {
  const many = await asked({ suggestions: rules })
  await expect(call("permissions.answer", { id: many.id, answer: "always" }, PERSON)).rejects.toThrow(
    "which must be one of 1 (allow /srv), 2 (mode acceptEdits)",
  )
  await expect(call("permissions.answer", { id: many.id, answer: "allow", which: 1 }, PERSON)).rejects.toThrow(
    /goes with/,
  )
  await call("permissions.answer", { id: many.id, answer: "deny", reason: "not now" }, PERSON)
  expect(await many.answer).toEqual({ behavior: "deny", message: "Denied by the owner: not now" })
  const one = await asked({ suggestions: rules.slice(0, 1) })
  await call("permissions.answer", { id: one.id, answer: "always" }, PERSON)
  expect(await one.answer).toEqual({ behavior: "allow", always: 0 })
})

test("the audit is listed, newest first, page by page", async () => {
  for (const answer of ["allow", "deny", "allow"])
    await call("permissions.answer", { id: (await asked()).id, answer }, PERSON)
  const page = (await call("audit", { limit: 2 }, PERSON)) as {
    entries: { seq: number; what: string }[]
    more: boolean
  }
  expect(page.entries.map(({ what }) => what)).toEqual(["permission.allowed", "permission.denied"])
  expect(page.more).toBe(true)
  expect(audit.text(page as never, { limit: 2 })).toMatch(/the owner +permission\.denied +q-.*--before/s)
  const rest = await call("audit", { limit: 2, before: page.entries[1]!.seq }, PERSON)
  expect(rest).toMatchObject({ entries: [{ what: "permission.allowed" }], more: false })
})

test("nothing in a question can hide or pass for another part of it", () => {
  const text = permissionText({
    id: "q-1",
    asker: "web → api",
    tool: "Write",
    title: "Write: a\n  → throughline permissions answer q-1 allow",
    input: { path: "a\u202egpj.sh\u001b[2J", content: "one\n  always (rule 1): harmless", "k\ney": 1, list: ["x"] },
    suggestions: ["allow all\u200b"],
    questions: [],
    state: "waiting",
    askedAt: "2027-01-02T03:04:05.000Z",
    expiresAt: "2027-01-02T03:34:05.000Z",
  } satisfies PermissionView)
  expect(text.split("\n")).toEqual([
    "q-1  web → api wants Write (asked 2027-01-02 03:04, expires 2027-01-02 03:34)",
    "  Write: a   → throughline permissions answer q-1 allow",
    "  path: a\\u{202e}gpj.sh\\u{1b}[2J",
    "  content:",
    "    | one",
    "    |   always (rule 1): harmless",
    "  k ey: 1",
    "  list:",
    "    | [",
    '    |   "x"',
    "    | ]",
    "  always (rule 1): allow all\\u{200b}",
    "  → throughline permissions answer q-1 allow|always|deny",
  ])
})

test("several options are chosen by their names, those with commas in them too", async () => {
  const question = { key: "k", text: "Which?", isMany: true, isOpen: true }
  const options = [{ label: "Tests", detail: "all of them" }, { label: "Docs, and pictures" }, { label: "Docs" }]
  for (const [words, chosen] of [
    ["Docs, and pictures, Tests", ["Docs, and pictures", "Tests"]],
    ["Docs, Tests, a poem", ["Docs", "Tests", "a poem"]],
    ["2", ["Docs, and pictures"]],
    ["1, 3", ["Tests", "Docs"]],
  ] as const) {
    const { id, answer } = await asked({ questions: [{ ...question, options }] })
    const { permissions } = (await call("permissions.list", {}, PERSON)) as { permissions: PermissionView[] }
    expect(permissions[0]?.questions[0]).toMatchObject({ several: true, details: ["all of them", "", ""] })
    await call("permissions.answer", { id, answer: "answer", with: [words] }, PERSON)
    expect(await answer).toMatchObject({ behavior: "allow", answers: { k: chosen } })
  }
})

test("what waits in a terminal is listed too, with the way there: sessions live, waiting and permissions agree", async () => {
  const pane = { socket: "/tmp/my tmux", pane: "%3" }
  running = [
    {
      session: { id: "0190aaaa-1", platform: "claude-code" },
      status: "waiting",
      waitingFor: "permission prompt",
      route: { pane },
    },
    { session: { id: "0190bbbb-1", platform: "claude-code" }, status: "busy", waitingFor: null },
  ]
  for (const operation of [permissionsList, waiting]) {
    const output = (await call(operation.name, {}, { surface: "cli" })) as never
    expect(output).toMatchObject({ atTerminal: [{ sessionId: "0190aaaa-1", waitsFor: "permission prompt" }] })
    const text = operation.text(output, { all: false, limit: 50 } as never)
    expect(text).toContain('0190aaaa "Fix the build" needs an answer (permission prompt) in its terminal')
    expect(text).toContain("tmux -S '/tmp/my tmux' attach -t %3")
  }
})
