import { execFileSync } from "node:child_process"
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { ask, makeHome, spawnCli, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"

interface Loaded {
  session: { id: string }
  thoughts: { thought: string }[]
}

const thought = (text: string) => ({ thought: text, nextThoughtNeeded: true })

describe("input that is wrong", () => {
  let home: TestHome
  let agents: McpClient[]
  let pid: number
  beforeAll(async () => {
    home = makeHome()
    agents = [await connect(home), await connect(home, { transport: "http", era: "modern" })]
    for (const agent of agents) await agent.call("init", { operation: "get_state" })
    pid = home.registration().pid
    writeFileSync(join(home.env.HOME!, "file"), "")
  })
  afterAll(async () => {
    for (const agent of agents) await agent.close()
    await home.dispose()
  })
  afterEach(async () => {
    for (const agent of agents)
      expect(await agent.call("init", { operation: "get_state" })).toMatchObject({ success: true })
    expect(home.registration().pid).toBe(pid)
  })

  const LONG = "x".repeat(10 * 1024 * 1024)
  test.each<[what: string, tool: string, args: Record<string, unknown>, refusal: RegExp]>([
    ["no operation", "init", {}, /^bad_input: operation is missing/],
    [
      "an unknown operation",
      "init",
      { operation: "nonsense" },
      /^bad_input: operation must be one of get_state, .*"nonsense"/,
    ],
    ["a number for a text", "thought", { ...thought("x"), thought: 7 }, /^bad_input: thought must be a string, got 7/],
    [
      "a text for a yes or no",
      "thought",
      { thought: "x", nextThoughtNeeded: "yes" },
      /nextThoughtNeeded must be a boolean, got "yes"/,
    ],
    ["a text for a list", "init", { operation: "start_new", tags: "x" }, /^bad_input: tags must be an array, got "x"/],
    [
      "a number in a list of texts",
      "init",
      { operation: "start_new", tags: [1] },
      /^bad_input: tags\.0 must be a string, got 1/,
    ],
    [
      "half a number",
      "thought",
      { ...thought("x"), thoughtNumber: 1.5 },
      /^bad_input: thoughtNumber must be a whole number, got 1\.5/,
    ],
    [
      "a number below one",
      "thought",
      { ...thought("x"), thoughtNumber: 0 },
      /^bad_input: thoughtNumber must be at least 1, got 0/,
    ],
    [
      "a limit too high",
      "init",
      { operation: "list_sessions", limit: 501 },
      /^bad_input: limit must be at most 500, got 501/,
    ],
    ["two mistakes", "thought", { thought: 7 }, /thought must be a string, got 7; nextThoughtNeeded is missing/],
    ["an empty thought", "thought", thought(""), /^bad_input: thought must be at least 1 character, got ""/],
    [
      "a thought of 10 MB",
      "thought",
      thought(LONG),
      /^bad_input: thought must be at most 1,000,000 characters, got 10,485,760 characters/,
    ],
    [
      "a title of 10 MB",
      "init",
      { operation: "start_new", title: LONG },
      /^bad_input: title must be at most 200 characters, got 10,485,760/,
    ],
    [
      "a relative root",
      "init",
      { operation: "start_new", mcpRootUri: "src/x" },
      /^root_invalid: .*"src\/x" \(it is relative\)/,
    ],
    [
      "a root of the web",
      "init",
      { operation: "start_new", mcpRootUri: "http://localhost/x" },
      /^root_invalid: .*its scheme is http/,
    ],
    [
      "a root that is no URI",
      "init",
      { operation: "start_new", mcpRootUri: "file://[" },
      /^root_invalid: .*cannot be parsed/,
    ],
    [
      "a root on another machine",
      "init",
      { operation: "start_new", mcpRootUri: "file://elsewhere/x" },
      /^root_invalid: .*another machine/,
    ],
    [
      "a root with an encoded slash",
      "init",
      { operation: "start_new", mcpRootUri: "file:///a%2Fb" },
      /^root_invalid: .*encoded slash/,
    ],
    ["a root with a NUL", "init", { operation: "start_new", mcpRootUri: "/a\0b" }, /^root_invalid: .*NUL/],
    [
      "a root with an encoded NUL",
      "init",
      { operation: "start_new", mcpRootUri: "file:///a%00b" },
      /^root_invalid: .*NUL/,
    ],
    [
      "a root that does not exist",
      "init",
      { operation: "start_new", mcpRootUri: "/nonsense/x" },
      /^root_not_found: no such folder: \/nonsense\/x/,
    ],
    [
      "an empty root",
      "init",
      { operation: "load_context", mcpRootUri: "" },
      /^bad_input: mcpRootUri must be at least 1 character, got ""/,
    ],
    [
      "an unknown session",
      "thought",
      { ...thought("x"), sessionId: "nonsense" },
      /^session_not_found: Session nonsense not found/,
    ],
    [
      "a cursor of its own",
      "init",
      { operation: "load_context", cursor: "x" },
      /^bad_input: cursor is not one that load_context returned: "x"/,
    ],
  ])("%s is refused with a reason, and both agents go on", async (_, tool, args, refusal) => {
    for (const agent of agents) expect(await agent.refused(tool, args)).toMatch(refusal)
  })

  test("a root that is a file is refused", async () => {
    const mcpRootUri = join(home.env.HOME!, "file")
    for (const agent of agents)
      expect(await agent.refused("init", { operation: "bind_root", mcpRootUri })).toMatch(
        /^root_not_found: not a folder/,
      )
  })

  test("branches and revisions of unknown thoughts are refused, and nothing of them is stored", async () => {
    const [agent] = agents as [McpClient]
    const { session } = await agent.call<Loaded>("init", { operation: "start_new" })
    await agent.call("thought", thought("one"))
    await agent.call("thought", { ...thought("aside"), branchId: "a", branchFromThought: 1 })
    const refused = (more: Record<string, unknown>) => agent.refused("thought", { ...thought("x"), ...more })
    expect(await refused({ branchId: "b" })).toMatch(/^bad_input: branchId "b" needs branchFromThought/)
    expect(await refused({ branchFromThought: 1 })).toMatch(/^bad_input: branchFromThought 1 needs branchId/)
    expect(await refused({ branchId: "b", branchFromThought: 9 })).toMatch(/^thought_not_found: branchFromThought 9 /)
    expect(await refused({ branchId: "a", branchFromThought: 2 })).toMatch(/branch "a" leaves thought 1, not 2/)
    expect(await refused({ revisesThought: 9 })).toMatch(/^thought_not_found: revisesThought 9 is not a thought/)
    expect(await refused({ isRevision: true })).toMatch(/^bad_input: isRevision needs revisesThought/)
    const loaded = await agent.call("init", { operation: "load_context", sessionId: session.id })
    expect(loaded).toMatchObject({ session: { thoughtCount: 2, branchCount: 1 } })
  })

  test("a beginning of an id that fits two sessions is refused", async () => {
    const [agent] = agents as [McpClient]
    const { session } = await agent.call<Loaded>("init", { operation: "start_new" })
    const twin = `${session.id.slice(0, -4)}twin`
    const db = new Database(join(home.dir, "throughline.db"))
    const row = db.prepare("select * from sessions where id = ?").get(session.id) as Record<string, unknown>
    const columns = Object.keys(row)
    db.prepare(`insert into sessions (${columns.join()}) values (${columns.map((name) => `@${name}`).join()})`).run({
      ...row,
      id: twin,
      native_id: twin,
      key: null,
    })
    db.close()
    for (const agent of agents)
      expect(await agent.refused("thought", { ...thought("x"), sessionId: twin.slice(0, 8) })).toMatch(
        /^session_ambiguous/,
      )
    expect(await agent.call("thought", { ...thought("x"), sessionId: twin })).toMatchObject({ sessionId: twin })
  })

  test("the same refusals carry a code and a status over the plain API", async () => {
    const refused = async (body: unknown) => {
      const headers = { "throughline-caller": encodeURIComponent(JSON.stringify({ surface: "mcp" })) }
      const answer = await ask(home, { path: "/api/thought", body: JSON.stringify(body), socket: true, headers })
      return [answer.status, answer.json<{ error: { code: string; data?: object } }>().error]
    }
    expect(await refused([])).toEqual([400, expect.objectContaining({ code: "bad_input" })])
    expect(await refused(thought(LONG))).toEqual([
      400,
      expect.objectContaining({ code: "bad_input", data: { parameter: "thought" } }),
    ])
    expect(await refused({ ...thought("x"), sessionId: "nonsense" })).toEqual([
      404,
      expect.objectContaining({ code: "session_not_found" }),
    ])
    expect(await refused(thought("x"))).toEqual([400, expect.objectContaining({ code: "session_needed" })])
  })

  test("unusual but valid text is stored unchanged", async () => {
    const [agent] = agents as [McpClient]
    const { session } = await agent.call<Loaded>("init", { operation: "start_new" })
    const texts = [
      "no \u0000 between",
      "👩‍👩‍👧 \u202e عربي",
      "'; drop table thoughts; --",
      "\r\n\t",
      "x".repeat(1_000_000),
    ]
    for (const text of texts) await agent.call("thought", thought(text))
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page: Loaded & { nextCursor?: string } = await agent.call("init", {
        operation: "load_context",
        sessionId: session.id,
        ...(cursor === undefined ? {} : { cursor }),
      })
      seen.unshift(...page.thoughts.map((kept) => kept.thought))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    // PostgreSQL cannot keep a NUL, so none is kept anywhere.
    expect(seen.slice(0, -1)).toEqual(texts.slice(0, -1).map((text) => text.replaceAll("\0", "")))
    expect(seen.at(-1) === texts.at(-1)).toBe(true)
  })

  test("a line on stdin that is no JSON does not end the conversation", async () => {
    const child = spawnCli(home, ["mcp"])
    onTestFinished(() => void child.kill("SIGKILL"))
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    }
    child.stdin.write(`nonsense\n\n${JSON.stringify(initialize)}\n`)
    let said = ""
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString()
    })
    await expect.poll(() => said, { timeout: 60_000 }).toContain('"serverInfo"')
  })

  test("parameters of the protocol itself that are wrong are the caller's mistake, also later in a conversation", async () => {
    const headers = { accept: "application/json, text/event-stream" }
    const clientInfo = { name: "x", version: "1" }
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }
    const said = (id: number, method: string, params: unknown) => JSON.stringify({ jsonrpc: "2.0", id, method, params })
    const hello = await ask(home, { path: "/mcp", headers, body: said(1, "initialize", params) })
    const inSession = { ...headers, "mcp-session-id": String(hello.headers["mcp-session-id"]) }
    for (const [method, wrong, named] of [
      ["initialize", { name: "init" }, "params.protocolVersion: "],
      ["initialize", { ...params, capabilities: { roots: 5 } }, "params.capabilities.roots: "],
      ["tools/list", { cursor: 5 }, "params.cursor: "],
    ] as const) {
      const { body } = await ask(home, { path: "/mcp", headers: inSession, body: said(2, method, wrong) })
      expect(body).toContain(`"error":{"code":-32602,"message":"${named}`)
    }
    const child = spawnCli(home, ["mcp"])
    onTestFinished(() => void child.kill())
    const answer = (id: number) =>
      new Promise<string>((resolve) => {
        let heard = ""
        child.stdout.on("data", (chunk) => {
          heard += chunk
          const line = heard.split("\n").find((one) => one.includes(`"id":${id}`))
          if (line !== undefined) resolve(line)
        })
      })
    child.stdin.write(`${said(1, "initialize", params)}\n`)
    await answer(1)
    child.stdin.write(`${said(2, "tools/list", { cursor: 5 })}\n`)
    expect(await answer(2)).toContain('"error":{"code":-32602,"message":"params.cursor: ')
  })

  test("a message of 40 MB is refused, and the agent continues", async () => {
    const [agent] = agents as [McpClient]
    await expect(agent.call("thought", thought("x".repeat(40 * 1024 * 1024)))).rejects.toThrow(/32 MB/)
  })
})

/** Why a command that only root may use cannot be used here; undefined if it can. */
function hindered(command: string, args: string[], undo: [string, string[]]): string | undefined {
  try {
    execFileSync(command, args, { stdio: "pipe" })
    execFileSync(...undo, { stdio: "pipe" })
    return undefined
  } catch (error) {
    return `${command}: ${(error as Error).message.split("\n")[1] ?? error}`
  }
}

describe("a disk that refuses to write", () => {
  let home: TestHome
  let disk: string
  let agent: McpClient
  let sessionId: string
  const kept: string[] = []
  const mount = (...args: string[]) => execFileSync("mount", args, { stdio: "pipe" })
  const folder = mkdtempSync(join(tmpdir(), "tl-"))
  const noMount = hindered("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], ["umount", [folder]])
  rmdirSync(folder)
  // In memory the flag does not stop who has the file open.
  const onDisk = mkdtempSync("/var/tmp/tl-")
  const noFlags = hindered("chattr", ["+i", onDisk], ["chattr", ["-i", onDisk]])
  rmdirSync(onDisk)

  beforeAll(async () => {
    home = makeHome({ THROUGHLINE_LOG_LEVEL: "debug" })
    disk = home.dir
    mkdirSync(disk)
    if (noMount === undefined) mount("-t", "tmpfs", "-o", "size=12m,mode=700", "tmpfs", disk)
    agent = await connect(home)
    sessionId = (await agent.call<Loaded>("init", { operation: "start_new" })).session.id
  })
  afterAll(async () => {
    await agent.close()
    await home.run("stop", "--force")
    if (noMount === undefined) execFileSync("umount", ["-l", disk])
    await home.dispose()
  })

  const record = async (text: string) => {
    const { isError, content } = await agent.client.callTool({ name: "thought", arguments: thought(text) })
    if (isError) return (content as { text: string }[])[0]!.text
    kept.push(text)
    return "kept"
  }
  const readable = async () =>
    (await home.json<{ thoughts: { thought: string }[] }>("sessions", "show", sessionId)).thoughts.map(
      ({ thought }) => thought,
    )
  const fill = () => {
    const file = openSync(join(disk, "filler"), "a")
    try {
      for (;;) writeSync(file, Buffer.alloc(4096))
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC")
    } finally {
      closeSync(file)
    }
  }
  afterEach(() => rmSync(join(disk, "filler"), { force: true }))

  test("a full one: stored data stays readable, and the same daemon continues once there is space", async ({
    skip,
  }) => {
    skip(noMount !== undefined, noMount)
    for (let number = 1; number <= 5; number++) expect(await record(`before ${number}`)).toBe("kept")
    const { pid } = home.registration()
    fill()
    let answer = "kept"
    for (let number = 1; answer === "kept" && number < 500; number++)
      answer = await record(`${number} ${"x".repeat(20_000)}`)
    expect(answer).toMatch(/^store_full: .*Free some disk space/)
    expect(await readable()).toEqual(kept)
    // Each is worth a line in the log, for which there is no room either.
    for (let number = 1; number <= 60; number++) expect(await record("still full".repeat(1000))).toMatch(/^store_full/)
    expect((await home.run("doctor")).stdout).toMatch(/warn +disk +0\.0 GB free/)
    rmSync(join(disk, "filler"))
    expect(await record("after")).toBe("kept")
    expect(await readable()).toEqual(kept)
    expect(home.registration().pid).toBe(pid)
  })

  test("a full one: a fresh agent still recovers stored data", async ({ skip }) => {
    skip(noMount !== undefined, noMount)
    const fresh = await connect(home)
    onTestFinished(() => fresh.close())
    fill()
    let answer = "kept"
    for (let number = 1; answer === "kept" && number < 500; number++)
      answer = await record(`${number} ${"y".repeat(20_000)}`)
    expect(await fresh.call("init", { operation: "load_context" })).toMatchObject({ session: { id: sessionId } })
  })

  test("a full one at the start is named, and with space again everything is there", async ({ skip }) => {
    skip(noMount !== undefined, noMount)
    await home.kill()
    fill()
    const refused = await home.run("start")
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringMatching(/disk|space/)])
    rmSync(join(disk, "filler"))
    expect(await readable()).toEqual(kept)
  })

  test("a read-only one is reported at the start, and works once it is fixed", async ({ skip }) => {
    skip(noMount !== undefined, noMount)
    await home.run("stop")
    mount("-o", "remount,ro", disk)
    const refused = await home.run("start", "--json")
    expect(refused.code).toBe(7)
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "store_readonly" } })
    const doctor = await home.run("doctor")
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(/FAIL +home .*is not writable/)])
    mount("-o", "remount,rw", disk)
    expect(await readable()).toEqual(kept)
    expect(await record("writable again")).toBe("kept")
  })

  // A mount cannot be made read-only while the daemon writes there, so the files themselves are.
  test("files that cannot be written any more under a running daemon", async ({ skip }) => {
    skip(noFlags !== undefined, noFlags)
    const at = makeHome({}, "/var/tmp")
    const other = await connect(at)
    const files = ["throughline.db", "throughline.db-wal"].map((name) => join(at.dir, name))
    onTestFinished(async () => {
      execFileSync("chattr", ["-i", ...files.filter(existsSync)])
      await other.close()
      await at.dispose()
    })
    await other.call("thought", thought("before"))
    const { pid } = at.registration()
    execFileSync("chattr", ["+i", ...files])
    expect(await other.refused("thought", thought("during"))).toMatch(/^store_(readonly|failing): /)
    execFileSync("chattr", ["-i", ...files])
    expect(await other.call("thought", thought("after"))).toMatchObject({ thoughtNumber: 2, thoughtCount: 2 })
    expect(at.registration().pid).toBe(pid)
  })
})
