import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterAll, beforeAll, expect, test } from "vitest"
import * as z from "zod"
import { plantedSecrets } from "../../bench/redaction.ts"
import { operations } from "../../src/operations/list.ts"
import type { Operation } from "../../src/operations/operation.ts"
import { fakeProgram } from "../fixtures/asking.ts"
import { until } from "../fixtures/browser.ts"
import { ask } from "../fixtures/daemon.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"

/** A parameter that takes words, and what else its operation needs. */
interface Slot {
  op: Operation
  name: string
  fill(words: string): Record<string, unknown>
}

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
  maxLength?: number
}

/** docs/privacy.md says ten seconds; a machine that is busy with other things gets more. */
const CLEAN_WITHIN_MS = 60_000
/** The settings are the owner's own: a token that is written there is meant to be there. */
const OWNERS_OWN = /^config\.json$/

let q: QueueHome
let sessionId: string
beforeAll(async () => {
  q = await makeQueueHome(["web", "api"], { THROUGHLINE_LOG_LEVEL: "debug" })
  const program = fakeProgram(q.home.env.HOME!)
  await q.call("teams.add", { name: "api", project: q.dirOf("api"), program, replace: true })
  sessionId = await q.sessionOf(await q.start("web"))
}, 240_000)
afterAll(() => q?.dispose())

const CALLERS = { owner: { surface: "cli" }, agent: { surface: "mcp", key: "an-agent" } }
const post = (op: Operation, input: object, caller: object) => {
  const said = encodeURIComponent(JSON.stringify({ ...caller, cwd: q.dirOf("web"), projectDir: q.dirOf("web") }))
  const body = JSON.stringify(input)
  return ask(q.home, { path: `/api/${op.name}`, body, socket: true, headers: { "throughline-caller": said } })
}

test("a secret in any parameter of any operation is left in no file", async () => {
  const slots = operations.flatMap(slotsOf)
  expect(slots.length).toBeGreaterThan(80)
  const secrets = plantedSecrets(1, 23).filter(({ text, secret }) => text.includes(secret) && text.length < 200)
  const sent: { where: string; secret: string }[] = []
  const isTaken = new Set<string>()
  for (const [who, caller] of Object.entries(CALLERS))
    for (const { op, name, fill } of slots) {
      const { text, secret } = secrets[sent.length % secrets.length]!
      sent.push({ where: `${op.name} ${name} as ${who}`, secret })
      const answer = await post(op, fill(text), caller)
      if (answer.status === 200) isTaken.add(`${op.name} ${name}`)
    }
  // Those with which people and agents say something were not merely refused.
  expect([...isTaken]).toEqual(
    expect.arrayContaining([
      ...["thought thought", "task_state current_task", "task_state pending_messages", "sessions.rename title"],
      ...["send_message message", "teams_ask question", "teams_send_message message", "teams_notify message"],
      ...["log_conversation_exchange user_message", "log_conversation_exchange ai_response", "init title", "init tags"],
      ...["log_conversation_exchange metadata", "search query"],
    ]),
  )
  // Notices wait for the team's next session.
  await q.start("api")
  await until(isQuiet, "everything is delivered and indexed", 120_000).catch(() => {})
  expect(open()).toEqual([])
  const left = () => {
    const files = [q.home.dir, ...["web", "api"].map((team) => join(q.dirOf(team), ".throughline"))].flatMap(filesOf)
    return sent.flatMap(({ where, secret }) =>
      files.flatMap(({ path, bytes }) => (bytes.includes(secret) ? [`${where}: ${path}`] : [])),
    )
  }
  await until(() => left().length === 0, "the files are clean", CLEAN_WITHIN_MS).catch(() => {})
  expect(left()).toEqual([])
}, 900_000)

/** Every parameter that takes words of one's own, also inside of lists and maps. */
function slotsOf(op: Operation): Slot[] {
  const schema = z.toJSONSchema(op.input, { io: "input", unrepresentable: "any" }) as Schema
  const { properties = {}, required = [] } = schema
  const base = Object.fromEntries(required.map((name) => [name, plausible(name, properties[name]!)]))
  return Object.entries(properties).flatMap(([name, wanted]) => {
    const shape = shapeOf(wanted)
    return shape ? [{ op, name, fill: (words: string) => ({ ...base, ...AND[name]?.(), [name]: shape(words) }) }] : []
  })
}

/** What a parameter is refused without. */
const AND: Record<string, () => Record<string, unknown>> = {
  current_task: () => ({ operation: "save" }),
  pending_messages: () => ({ operation: "save" }),
  title: () => ({ sessionId }),
}

function shapeOf(schema: Schema): ((words: string) => unknown) | undefined {
  if (schema.enum || schema.const !== undefined) return undefined
  if (schema.anyOf) return schema.anyOf.map(shapeOf).find((shape) => shape !== undefined)
  if (schema.type === "array") {
    const item = shapeOf(schema.items ?? {})
    return item && ((words) => [item(words)])
  }
  if (schema.type === "object") return (words) => ({ note: words })
  return schema.type === "string" ? (words) => words : undefined
}

function plausible(name: string, { type, enum: choices, anyOf }: Schema): unknown {
  if (choices) return choices[0]
  if (anyOf) return plausible(name, anyOf[0]!)
  if (type === "boolean") return false
  if (type === "integer" || type === "number") return 1
  if (type === "array") return []
  if (type === "object") return {}
  if (/session/i.test(name)) return sessionId
  if (name === "target") return "web"
  if (name === "team" || name === "toTeam") return "api"
  return name === "project" ? q.dirOf("web") : `words ${randomUUID()}`
}

/** Delivered, read and indexed, except messages without a recipient. */
const isQuiet = async () => {
  const { search } = await q.call<{ search: { behind?: number } }>("status", {})
  return search.behind === 0 && open().length === 0
}

function open() {
  const db = new Database(join(q.home.dir, "throughline.db"), { readonly: true })
  try {
    const ended = "('done', 'failed', 'cancelled', 'expired')"
    // A delivered notice gets no further events.
    return db
      .prepare(
        `select channel, lane, state, outcome from deliveries
          where state not in ${ended} and not (channel = 'notice' and state = 'delivered')`,
      )
      .all()
  } finally {
    db.close()
  }
}

const filesOf = (dir: string) =>
  (existsSync(dir) ? readdirSync(dir, { recursive: true, withFileTypes: true }) : [])
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !OWNERS_OWN.test(path.slice(dir.length + 1)))
    .map((path) => ({ path: path.slice(dir.length + 1), bytes: readFileSync(path) }))
