import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ask, BIN, makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect } from "../fixtures/mcp.ts"

/** How soon an agent that appends to a file may count on being found. */
const SOON_MS = 5_000
const KINDS = ["caller", "team", "import", "settings"] as const
const FOLDERS = [".throughline/conversations", ".praxis-os/.conversations"] as const

let home: TestHome
const dirOf = (kind: string, n: number) => join(home.env.HOME!, `${kind}-${n}`)

beforeAll(async () => {
  home = makeHome()
  mkdirSync(home.dir, { mode: 0o700 })
  for (const kind of KINDS) for (const n of [1, 2]) mkdirSync(dirOf(kind, n))
  const teams = { one: { project: dirOf("team", 1) }, two: { project: dirOf("team", 2) } }
  const capture = { folders: ["~/settings-1", dirOf("settings", 2)] }
  writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams, capture }), { mode: 0o600 })
  await home.run("start")
  for (const n of [1, 2]) {
    // It connects and calls no tool.
    const agent = await connect(home, { cwd: dirOf("caller", n) })
    await agent.close()
    execFileSync(process.execPath, [BIN, "import"], { env: home.env, cwd: dirOf("import", n) })
  }
}, 240_000)
afterAll(() => home.dispose())

const exchange = (word: string, session_id = "abc", more: Record<string, unknown> = {}) =>
  JSON.stringify({
    type: "exchange",
    timestamp: "2026-02-01T09:00:00Z",
    user: `What is the ${word}?`,
    ai: `The ${word} is here.`,
    session_id,
    ...more,
  })

/** As any agent can do it, without us. */
function append(dir: string, folder: string, line: string, file = "current-session.jsonl"): void {
  mkdirSync(join(dir, folder), { recursive: true })
  execFileSync("sh", ["-c", `echo "$LINE" >> ${file}`], { cwd: join(dir, folder), env: { LINE: line } })
}

interface Hit {
  sessionId: string
  user: string
  untrusted?: true
  metadata?: object
  project?: string
}

const search = async (query: string) =>
  (await ask(home, { path: "/api/search", body: JSON.stringify({ query }) })).json<{ hits: Hit[] }>().hits

async function msUntilFound(word: string): Promise<{ ms: number; hit: Hit }> {
  const startMs = performance.now()
  for (;;) {
    const [hit] = await search(word)
    const ms = Math.round(performance.now() - startMs)
    if (hit) return { ms, hit }
    if (ms > 60_000) throw new Error(`${word} is not found`)
    await sleep(50)
  }
}

async function soon(word: string, what: string): Promise<Hit> {
  const { ms, hit } = await msUntilFound(word)
  expect(ms, what).toBeLessThanOrEqual(SOON_MS)
  return hit
}

describe("a conversation log that an agent appends to a file", () => {
  test.each(KINDS)(
    "is found within five seconds in the folder of the %s, which had no session before",
    async (kind) => {
      append(dirOf(kind, 1), FOLDERS[1], exchange(`${kind}quokka`))
      const hit = await soon(`${kind}quokka`, `${kind}, new folder`)
      expect(hit).toMatchObject({ untrusted: true, project: `file://${dirOf(kind, 1)}` })
      append(dirOf(kind, 1), FOLDERS[1], exchange(`${kind}numbat`))
      await soon(`${kind}numbat`, `${kind}, next line`)
    },
  )

  test("is found as quickly after a kill of the daemon, without any call since", async () => {
    expect(await home.kill()).toBe(true)
    await home.run("start")
    for (const kind of KINDS) {
      append(dirOf(kind, 2), FOLDERS[0], exchange(`${kind}bilby`))
      await soon(`${kind}bilby`, `${kind}, after kill -9`)
    }
  }, 120_000)

  test("is found as soon when its folder is deleted and made again", async () => {
    for (const kind of KINDS) {
      rmSync(join(dirOf(kind, 1), FOLDERS[1]), { recursive: true })
      append(dirOf(kind, 1), FOLDERS[1], exchange(`${kind}potoroo`))
      await soon(`${kind}potoroo`, `${kind}, folder made again`)
      append(dirOf(kind, 1), FOLDERS[1], exchange(`${kind}dunnart`))
      await soon(`${kind}dunnart`, `${kind}, next line there`)
    }
  }, 120_000)

  test("is found by an exchange's metadata, which is returned", async () => {
    const metadata = { topic: "marsupials", tags: ["numbatology", "field work"] }
    append(dirOf("team", 1), FOLDERS[0], exchange("echidna", "tagged", { metadata }))
    await soon("numbatology", "by a tag")
    const [hit] = await search('"field work"')
    expect(hit).toMatchObject({ metadata, untrusted: true, user: "What is the echidna?" })
    expect((await home.run("search", "numbatology")).stdout).toContain("field work")
    const agent = await connect(home, { cwd: dirOf("team", 1) })
    expect(await agent.call("search_conversation_history", { query: "numbatology" })).toMatchObject({
      exchanges: [{ metadata, user: "What is the echidna?", untrusted: true }],
    })
    const read = await agent.text("search_conversation_history", { query: "numbatology" })
    expect(read).toContain(`${hit!.sessionId.slice(0, 8)} (logged as tagged)`)
    expect(read).toContain("marsupials numbatology field work")
    const extracted = await agent.call("extract_session_history", {
      platform: "conversation-log",
      session_id: "tagged",
    })
    expect(extracted).toMatchObject({ sessions: [{ exchanges: [{ metadata }] }] })
    const shown = await home.json<{ turns: { metadata?: object }[] }>("sessions", "show", hit!.sessionId)
    expect(shown.turns.map((turn) => turn.metadata)).toEqual([metadata, undefined])
    await agent.close()
  })

  test("has secrets redacted from metadata, and oversized metadata dropped", async () => {
    const secret = `ghp_${"aB3dE5fG7h".repeat(4).slice(0, 36)}`
    append(dirOf("team", 1), FOLDERS[0], exchange("bettong", "tagged", { metadata: { tags: [secret], [secret]: 1 } }))
    const first = await soon("bettong", "with a secret")
    expect(JSON.stringify(first.metadata)).toContain("[redacted:")
    expect(JSON.stringify(first)).not.toContain(secret)
    append(dirOf("team", 1), FOLDERS[0], exchange("pademelon", "tagged", { metadata: { tags: ["x".repeat(5_000)] } }))
    expect(await soon("pademelon", "with too much")).not.toHaveProperty("metadata")
    expect((await home.run("sources")).stdout).toContain("1 × metadata over 4,000 characters")
    const agent = await connect(home, { cwd: dirOf("team", 1) })
    const args = { user_message: "a", ai_response: "b", session_id: "long", metadata: { tags: ["x".repeat(5_000)] } }
    expect(await agent.refused("log_conversation_exchange", args)).toContain("metadata must be at most 4000 characters")
    await agent.close()
  })

  test("is forgotten with its metadata, and does not come back", async () => {
    append(dirOf("team", 1), FOLDERS[0], exchange("kowari", "tagged", { metadata: { topic: "nightfallproject" } }))
    await soon("nightfallproject", "to be forgotten")
    expect(await home.json("forget", "--containing", "nightfallproject", "--yes")).toMatchObject({ turns: 1 })
    expect(await search("nightfallproject")).toEqual([])
    append(dirOf("team", 1), FOLDERS[0], exchange("wallaroo", "tagged"))
    await soon("wallaroo", "after forgetting")
    expect(await search("nightfallproject")).toEqual([])
    const held = readdirSync(home.dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes("nightfallproject"))
    expect(held.map(({ name }) => name)).toEqual([])
  })

  test("goes by the id under which it was logged, from its project and from anywhere else", async () => {
    const dir = dirOf("import", 1)
    append(dir, FOLDERS[1], exchange("mulgara", "m-1"))
    const { sessionId } = await soon("mulgara", "under an id of its own")
    const agent = await connect(home, { cwd: dir })
    const { exchanges } = await agent.call<{ exchanges: object[] }>("search_conversation_history", { query: "mulgara" })
    expect(exchanges).toMatchObject([{ native_id: "m-1", session_id: sessionId.slice(0, 8) }])
    expect(exchanges[0]).not.toHaveProperty("resume_command")
    const many = { query: "mulgara", n_results: 20 }
    expect(JSON.stringify(await agent.call("search_conversation_history", many))).not.toContain("throughline resume")
    const [hit] = await search("mulgara")
    expect(hit).toMatchObject({ nativeId: "m-1" })
    expect(hit).not.toHaveProperty("resumeCommand")
    const session_id = "m-1"
    expect(await agent.call("search_conversation_history", { query: "mulgara", session_id })).toMatchObject({
      exchanges: [{ native_id: "m-1" }],
    })
    expect(await agent.call("resume_session_context", { session_id })).toMatchObject({
      brief: expect.stringContaining("mulgara"),
      message: "Found 1 relevant past exchange",
    })
    const sync = await agent.call("sync_conversation_history", { platform: "conversation-log", session_id })
    expect(sync).toMatchObject({ message: expect.stringContaining("Session m-1 is kept") })
    expect(await agent.refused("init", { operation: "load_context", sessionId: "m-1" })).toContain(
      "resume_session_context",
    )
    await agent.close()

    const shown = await home.json<{ session: { id: string } }>("sessions", "show", "m-1")
    expect(shown.session.id).toBe(sessionId)
    expect(shown.session).not.toHaveProperty("resumeCommand")
    expect((await home.run("sessions", "export", "m-1")).stdout).toContain("mulgara")
    const resumed = await home.run("resume", "m-1")
    expect(resumed.code).not.toBe(0)
    expect(resumed.stderr).toContain("conversation-log cannot resume session")
    expect((await home.run("send", "m-1", "hello")).stdout).toContain("is a log file, where no agent reads messages")
    expect((await home.run("send", sessionId, "hello")).stdout).toContain(
      "is a log file, where no agent reads messages",
    )
  })

  test("is another session under the same id in another project, and forgotten there alone", async () => {
    append(dirOf("import", 2), FOLDERS[0], exchange("ningaui", "m-1"))
    const other = await soon("ningaui", "the same id elsewhere")
    expect((await home.run("sessions", "show", "m-1")).stderr).toContain("more than one project has a session m-1")
    const forget = ["forget", "--session-id", "m-1", "--yes", "--json"]
    execFileSync(process.execPath, [BIN, ...forget], { env: home.env, cwd: dirOf("import", 1) })
    expect(await search("mulgara")).toEqual([])
    const shown = await home.json<{ session: { id: string } }>("sessions", "show", "m-1")
    expect(shown.session.id).toBe(other.sessionId)
  })

  test("with the same id in two projects needs its project named, however long the id is", async () => {
    const dirs = [dirOf("caller", 1), dirOf("import", 1)] as const
    for (const dir of dirs) {
      const agent = await connect(home, { cwd: dir })
      const said = { user_message: `Who keeps ${dir}?`, ai_response: "Nobody.", session_id: "chat-2026-11" }
      expect(await agent.call("log_conversation_exchange", said)).toMatchObject({ status: "logged" })
      await agent.close()
    }
    const both = "more than one project has a session chat-2026-11: name it from its project's folder"
    for (const command of [["sessions", "show"], ["sessions", "export"], ["resume"]])
      expect((await home.run(...command, "chat-2026-11")).stderr, command.join(" ")).toContain(both)
    const agent = await connect(home, { cwd: dirs[1] })
    const own = await agent.call<{ exchanges: object[] }>("search_conversation_history", {
      query: "keeps",
      session_id: "chat-2026-11",
    })
    expect(own.exchanges).toMatchObject([{ native_id: "chat-2026-11", user: `Who keeps ${dirs[1]}?` }])
    await agent.close()
  })

  test("is not read through a link that a repository holds", async () => {
    const elsewhere = join(home.env.HOME!, "elsewhere")
    append(elsewhere, ".", exchange("wombatsecret"))
    const dir = dirOf("caller", 2)
    rmSync(join(dir, ".throughline"), { recursive: true })
    mkdirSync(join(dir, ".throughline"))
    symlinkSync(elsewhere, join(dir, FOLDERS[0]))
    append(dir, FOLDERS[1], exchange("afterlink"))
    await soon("afterlink", "beside a link")
    expect(await search("wombatsecret")).toEqual([])
  })
})
