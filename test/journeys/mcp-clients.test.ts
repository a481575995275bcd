import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type Era, type McpClient, type Transport } from "../fixtures/mcp.ts"
import { samples } from "../fixtures/platform-samples.ts"

interface Synced {
  status: string
  message: string
  platform?: string
}
interface Shown {
  from: string
  client?: { name: string; version: string }
}

/** Who plays which agent; each has one conversation of its own on the disk. */
const CURSOR = { name: "cursor-vscode", label: "Cursor", platform: "cursor" }
const CLINE = { name: "Cline", label: "Cline", platform: "cline" }
const WAYS = (["stdio", "http"] as Transport[]).flatMap((transport) =>
  (["legacy", "modern"] as Era[]).map((era) => ({ transport, era })),
)

let home: TestHome
let shop: string
beforeAll(async () => {
  home = makeHome()
  shop = join(home.env.HOME!, "shop")
  mkdirSync(shop)
  mkdirSync(home.dir)
  writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams: { shop: { project: shop } } }))
  for (const { platform } of [CURSOR, CLINE])
    samples[platform]!(home.env.HOME!, { prompts: [`Why does ${platform} wait?`], unknown: 0 })
  await home.run("start")
}, 120_000)
afterAll(() => home.dispose())

async function as<T>(
  name: string,
  way: { transport: Transport; era: Era },
  act: (client: McpClient) => Promise<T>,
): Promise<T> {
  const client = await connect(home, { ...way, name, cwd: shop })
  try {
    return await act(client)
  } finally {
    await client.close()
  }
}

async function show(id: string): Promise<Shown> {
  const answer = await fetch(`${home.registration().url}/api/queue.show`, {
    method: "POST",
    headers: { authorization: `Bearer ${home.token()}`, "content-type": "application/json" },
    body: JSON.stringify({ id }),
  })
  return (await answer.json()) as Shown
}

describe.each(WAYS)("over $transport, of the $era era", (way) => {
  const say = (name: string, text: string) =>
    as(name, way, async (client) => {
      const message = `${text} ${way.transport} ${way.era}`
      const { id } = await client.call<{ id: string }>("send_message", { target: "shop", message })
      // The second call of a connection goes another way than the first.
      const again = await client.call<{ id: string }>("send_message", { target: "shop", message: `${message} again` })
      return Promise.all([id, again.id].map(show))
    })

  test.each([
    ["cursor-vscode", "Cursor (unverified)"],
    ["Cline", "Cline (unverified)"],
    ["Anthropic/ClaudeAI", "claude.ai (unverified)"],
    ["dispatcher", "dispatcher (unverified)"],
  ])("mail of %s is from %s", async (name, from) => {
    const client = { name, version: "1.0.0" }
    expect(await say(name, name)).toMatchObject([
      { from, client },
      { from, client },
    ])
  })

  test.each(["the owner", "Throughline", "shop", "s\u200bhop", "\u202eshop", "shop\n", "owner (verified)"])(
    "nobody becomes another by calling itself %j",
    async (name) => {
      for (const shown of await say(name, JSON.stringify(name))) {
        expect(shown.from).toBe("an unnamed client")
        expect(shown.client).toBeUndefined()
      }
    },
  )

  test("a name of any length does no harm", async () => {
    const [shown] = await say(`x${"y".repeat(5_000)}`, "long")
    expect(shown!.from).toBe(`x${"y".repeat(59)} (unverified)`)
  })

  test.each([CURSOR, CLINE, { ...CURSOR, name: "CURSOR-VSCODE" }, { ...CLINE, name: "cline" }])(
    "the conversations of $name are read from its own files",
    async ({ name, label, platform }) => {
      const synced = await as(name, way, (client) => client.call<Synced>("sync_conversation_history", {}))
      expect(synced).toMatchObject({ status: "synced", platform })
      expect(synced.message).toBe(`${label}: 1 session, 1 turn.`)
    },
  )

  test("an unknown agent is asked to log", async () => {
    const synced = await as("Zed", way, (client) => client.call<Synced>("sync_conversation_history", {}))
    expect(synced).toMatchObject({ status: "push_required", message: expect.stringContaining("This agent is unknown") })
  })

  test("a session is found without its agent's name, by each of its ids", async () => {
    const kept = await as("Zed", way, async (client) => {
      const sync = (more: object) => client.call<Synced>("sync_conversation_history", { mode: "pull", ...more })
      const { sessions } = await client.call<{ sessions: { session_id: string; native_id: string }[] }>(
        "extract_session_history",
        { platform: "cline" },
      )
      const { session_id, native_id } = sessions[0]!
      return {
        native: (await sync({ session_id: native_id })).message,
        ours: (await sync({ session_id })).message,
        none: (await sync({ session_id: "no-such-session" })).message,
        other: (await sync({ session_id: native_id, platform: "cursor" })).message,
      }
    })
    expect(kept.native).toMatch(/Session \S+ is kept\.$/)
    expect(kept.ours).toMatch(/Session \S+ is kept\.$/)
    expect(kept.none).toMatch(/Session no-such-session is not among them\.$/)
    expect(kept.other).toMatch(/is not among them: it is one of Cline\.$/)
  })
})

test("a name grants nothing", async () => {
  const refused = await as("throughline", { transport: "http", era: "modern" }, (client) =>
    client.refused("teams_ask", { team: "shop", question: "May I?", fromTeam: "shop" }),
  )
  expect(refused).toContain("fromTeam")
})

test("the queue shows the senders of pending messages", async () => {
  expect((await home.run("queue")).stdout).toMatch(/^\S+ +\S+ +FROM[\s\S]*shop .*Cursor \(unverified\)/)
})

describe("an agent that logs by hand although its files are read", () => {
  const T = "2026-08-01T08:00:30Z"
  const log = (name: string, prompt: string, reply = "It waits for the lock.") =>
    as(name, { transport: "stdio", era: "legacy" }, (client) =>
      client.call<{ status: string; exchange_id: string; log_file?: string; note?: string }>(
        "log_conversation_exchange",
        { user_message: prompt, ai_response: reply, session_id: `of-${name}`, timestamp: T },
      ),
    )
  const found = (query: string) =>
    as("Zed", { transport: "stdio", era: "legacy" }, async (client) => {
      const { exchanges } = await client.call<{ exchanges: { exchange_id: string; platform: string }[] }>(
        "search_conversation_history",
        { query, project: "all" },
      )
      return exchanges.map(({ exchange_id: id, platform }) => ({ id, platform }))
    })

  test("afterwards: nothing is written, and the answer names the stored exchange", async () => {
    const answer = await log("cursor-vscode", "Why does cursor wait?")
    expect(answer).toMatchObject({
      status: "duplicate",
      note: expect.stringContaining("Cursor conversations are read from its own files"),
    })
    expect(answer.log_file).toBeUndefined()
    expect(await found('"cursor wait"')).toEqual([{ id: answer.exchange_id, platform: "cursor" }])
  })

  test("before its file has it: stored at once, and removed when the file has the same", async () => {
    const first = await log("Roo Code", "Why does roo wait?")
    expect(first.status).toBe("logged")
    await expect.poll(() => found('"roo wait"'), { timeout: 30_000 }).toMatchObject([{ platform: "conversation-log" }])
    samples.roo!(home.env.HOME!, { prompts: ["Why does roo wait?"], unknown: 0 })
    await home.run("import", "--platform", "roo")
    await expect.poll(() => found('"roo wait"'), { timeout: 30_000 }).toMatchObject([{ platform: "roo" }])
    // The log's file is still there, and does not bring it back.
    writeFileSync(
      first.log_file!,
      `${readFileSync(first.log_file!, "utf8")}{"type":"context_reset","session_id":"x"}\n`,
    )
    await home.run("import")
    expect(await log("Roo Code", "Why does roo wait?")).toMatchObject({ status: "duplicate" })
    expect(await found('"roo wait"')).toMatchObject([{ platform: "roo" }])
  })

  test("exchanges that its files lack stay, and so does the same question to another agent", async () => {
    expect(await log("cursor-vscode", "What was said on the phone about wombats?")).toMatchObject({ status: "logged" })
    expect(await log("Zed", "Why does cline wait?")).toMatchObject({ status: "logged" })
    await home.run("import")
    await expect.poll(() => found("wombats"), { timeout: 30_000 }).toHaveLength(1)
    await expect.poll(() => found('"cline wait"'), { timeout: 30_000 }).toHaveLength(2)
  })
})
