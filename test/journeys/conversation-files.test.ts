import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
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
    "is found within five seconds in the folder of the %s, where nothing was said before",
    async (kind) => {
      append(dirOf(kind, 1), FOLDERS[1], exchange(`${kind}quokka`))
      const hit = await soon(`${kind}quokka`, `${kind}, new folder`)
      expect(hit).toMatchObject({ untrusted: true, project: `file://${dirOf(kind, 1)}` })
      append(dirOf(kind, 1), FOLDERS[1], exchange(`${kind}numbat`))
      await soon(`${kind}numbat`, `${kind}, next line`)
    },
  )

  test("is found as soon after the daemon was killed, where nobody has called since", async () => {
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
