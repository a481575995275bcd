import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Planted, plantedSecrets } from "../../bench/redaction.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"

let home: TestHome
let project: string
let agent: McpClient
let planted: Planted[]
beforeAll(async () => {
  home = makeHome({ THROUGHLINE_LOG_LEVEL: "debug" })
  project = join(home.env.HOME!, "shop")
  mkdirSync(project)
  // One of every kind; the same ones each time.
  planted = [...new Map(plantedSecrets(1, 5).map((secret) => [secret.kind, secret])).values()]
  await home.run("start")
  agent = await connect(home, { cwd: project })
}, 240_000)
afterAll(async () => {
  await agent.close()
  await home.dispose()
})

const bytesOf = (dir: string) =>
  Buffer.concat(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
  )

/** The kinds of secrets in a file, whole or escaped as in JSON. */
const leftIn = (bytes: Buffer) =>
  planted.filter(({ secret }) => bytes.includes(secret) || bytes.includes(JSON.stringify(secret).slice(1, -1)))

test("no planted secret of over 138 kinds is left anywhere in the data directory, by whatever way it came", async () => {
  expect(planted.length).toBeGreaterThanOrEqual(138)
  // As an agent's own transcript: prompts, answers, tool output, a branch and a title.
  const folder = join(home.env.HOME!, ".claude", "projects", "-shop")
  mkdirSync(folder, { recursive: true })
  const lines = planted.map(({ text }, n) => ({
    ...{ type: "user", uuid: `u-${n}`, sessionId: "11111111-1111-4111-8111-111111111111", cwd: project },
    ...{ version: "2.1.197", gitBranch: n === 0 ? `fix/${planted[0]!.secret.split("\n")[0]}` : "main" },
    ...{ timestamp: new Date(1_760_000_000_000 + n * 1000).toISOString() },
    message: { role: "user", content: text },
  }))
  const transcript = join(folder, "11111111-1111-4111-8111-111111111111.jsonl")
  writeFileSync(transcript, "")
  for (const line of lines) appendFileSync(transcript, `${JSON.stringify(line)}\n`)
  for (const { text } of planted.filter((_, n) => n % 8 === 0)) {
    await agent.call("thought", { thought: text, nextThoughtNeeded: true })
  }
  for (const [n, { text }] of planted.filter((_, n) => n % 8 === 1).entries()) {
    await agent.call("log_conversation_exchange", {
      ...{ user_message: text, ai_response: `${n} ${text}`, session_id: "chat", metadata: { note: text } },
    })
  }
  await home.run("sync")
  for (let left = 300; left > 0; left--) {
    const { sessions } = await home.json<{ sessions: { turnCount?: number; promptCount: number }[] }>(
      "sessions",
      "--json",
    )
    if (sessions.some(({ promptCount }) => promptCount >= planted.length - 2)) break
    await sleep(200)
  }
  const { sessions } = await home.json<{ sessions: { id: string; promptCount: number }[] }>("sessions", "--json")
  const [longest] = sessions.toSorted((a, b) => b.promptCount - a.promptCount)
  expect(longest!.promptCount).toBeGreaterThan(138)
  await home.run("search", "rotate")
  const exported = await home.run("sessions", "export", longest!.id)
  expect(leftIn(Buffer.from(exported.stdout)).map(({ kind }) => kind)).toEqual([])
  expect(leftIn(bytesOf(join(project, ".throughline"))).map(({ kind }) => kind)).toEqual([])
  expect(leftIn(bytesOf(home.env.THROUGHLINE_HOME!)).map(({ kind }) => kind)).toEqual([])
}, 240_000)

test("after forget, no byte of the data directory or of our own logs has the text", async () => {
  const word = "lampenfieber"
  await agent.call("thought", { thought: `about the ${word}`, nextThoughtNeeded: true })
  await agent.call("log_conversation_exchange", {
    ...{ user_message: `where is the ${word}?`, ai_response: "there", session_id: "chat-2", metadata: { about: word } },
  })
  const everything = () => Buffer.concat([bytesOf(home.env.THROUGHLINE_HOME!), bytesOf(join(project, ".throughline"))])
  for (let left = 100; left > 0; left--) {
    if ((await home.run("search", word)).stdout.includes(word)) break
    await sleep(100)
  }
  expect(everything().includes(word)).toBe(true)
  const planned = await home.run("forget", "--containing", word, "--dry-run")
  expect(planned.stdout).toMatch(
    /Would delete \d+ sessions?, \d+ messages? and |Would delete \d+ sessions?, \d+ messages?, /,
  )
  const forgot = await home.json<{ forgotten: boolean; turns: number; thoughts: number; left: string[] }>(
    ...["forget", "--containing", word, "--yes", "--json"],
  )
  expect(forgot).toMatchObject({ forgotten: true, turns: 1, thoughts: 1, left: [] })
  expect(everything().includes(word)).toBe(false)
}, 240_000)
