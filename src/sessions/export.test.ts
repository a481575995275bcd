import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newTurn } from "../../test/contracts/store/turns.ts"
import { proves } from "../../test/promises.ts"
import { platforms } from "../agents/list.ts"
import { makeCapture } from "../capture/module.ts"
import type { Caller } from "../domain/caller.ts"
import { makeClients } from "../domain/caller.ts"
import type { Store } from "../domain/store.ts"
import { rootUri } from "../lib/roots.ts"
import type { Services } from "../operations/services.ts"
import { sessionsExport } from "../operations/sessions.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeSessions, type SessionsModule } from "./module.ts"

let top: string
let store: Store
let module: SessionsModule
let id: string
let agent: Caller
/** All that the operation asks. */
let services: Services
beforeAll(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-export-")))
  for (const name of ["app", "other"]) mkdirSync(join(top, name))
  store = await openStore(sqlite({ path: join(top, "throughline.db") }))
  module = makeSessions({ store, clock: { nowMs: () => 0 }, homeDir: join(top, "home"), tempDir: join(top, "temp") })
  services = { sessions: module, capture: captureOf(module) } as Services
  agent = { surface: "mcp", key: "agent", cwd: join(top, "app") }
  id = (await module.recovery.startNew(agent, { title: "A plan", tags: ["x", "y"] })).id
  const think = (thought: string, more: object = {}) =>
    module.thinking.record(agent, { thought, nextThoughtNeeded: true, ...more })
  await think("main one")
  await think("main two")
  await think("late two", { branchId: "late", branchFromThought: 2 })
  await think("early two", { branchId: "early", branchFromThought: 1 })
  await think("early three", { branchId: "early", branchFromThought: 1 })
  await think("main two again", { thoughtNumber: 2 })
  await think("main one, better", { revisesThought: 1 })
  await module.edits.linkRoot(id, join(top, "other"))
})
afterAll(async () => {
  await store.close()
  rmSync(top, { recursive: true, force: true })
})

const captureOf = ({ projects }: SessionsModule) =>
  makeCapture({
    store,
    clock: { nowMs: () => 0 },
    projects,
    platforms,
    clients: makeClients({ platforms, others: [], redact: (text) => text }),
    machine: { os: "linux", homeDir: join(top, "home"), env: {} },
    tempDir: join(top, "temp"),
    settings: { exclude: [], redactionOff: [], redactionExtra: [] },
    hooks: { agents: [], spoolDir: join(top, "spool"), host: "here", onTrouble: () => {} },
    onTrouble: (_, error) => {
      throw error
    },
  })

const exported = async (format: "markdown" | "json") => {
  return (await sessionsExport.run(services, { sessionId: id.slice(0, 8), format }, agent)).content
}

describe(proves("sessions.exported"), () => {
  test("markdown has the main line in order, and each branch right after the thought it leaves", async () => {
    const headings = (await exported("markdown")).split("\n").filter((line) => line.startsWith("#"))
    expect(headings).toEqual([
      "# A plan",
      "## Thought 1",
      "## Branch `early` (from thought 1)",
      "### Thought 2",
      "### Thought 3",
      "## Thought 2",
      "## Branch `late` (from thought 2)",
      "### Thought 3",
      "## Thought 3 (sent as 2)",
      "## Thought 4 (revises 1)",
    ])
  })

  test("markdown has every text, and what the session is", async () => {
    const markdown = await exported("markdown")
    for (const { text } of await store.thoughts.all(id as never)) expect(markdown).toContain(`\n${text}\n`)
    expect(markdown).toContain(`- Session: \`${id}\``)
    expect(markdown).toContain(`- Project: ${rootUri(join(top, "app"))}`)
    expect(markdown).toContain(`- Also: ${rootUri(join(top, "other"))}`)
    expect(markdown).toContain("- Tags: x, y")
    expect(markdown).toContain("- 7 thoughts, 2 branches")
  })

  test("JSON has the main line, and every thought of every branch", async () => {
    const { version, session, linkedRoots, thoughts, branches } = JSON.parse(await exported("json"))
    expect({ version, title: session.title, linkedRoots }).toEqual({
      version: 1,
      title: "A plan",
      linkedRoots: [rootUri(join(top, "other"))],
    })
    const texts = (list: { thought: string }[]) => list.map((thought) => thought.thought)
    expect(texts(thoughts)).toEqual(["main one", "main two", "main two again", "main one, better"])
    expect(Object.keys(branches).toSorted()).toEqual(["early", "late"])
    expect(texts(branches.early)).toEqual(["early two", "early three"])
    expect(texts(branches.late)).toEqual(["late two"])
  })
})

test("a conversation that was captured is exported with all that was said and done, and not just as its title", async () => {
  const { id: talked } = await module.recovery.startNew({ surface: "mcp" }, { title: "A talk" })
  await store.turns.put([
    newTurn(talked, "a", { kind: "prompt", text: "Where is it?", atMs: 1 }),
    newTurn(talked, "b", { kind: "tool_call", toolName: "Bash", text: "rg it", atMs: 2 }),
    newTurn(talked, "c", { kind: "tool_result", toolName: "Bash", text: "```\nhere", isError: true, atMs: 3 }),
    newTurn(talked, "d", { kind: "reply", text: "There.", atMs: 4 }),
  ])
  const content = async (format: "markdown" | "json") =>
    (await sessionsExport.run(services, { sessionId: talked, format }, agent)).content
  const markdown = await content("markdown")
  expect(markdown).toContain("- 4 turns, 0 thoughts, 0 branches")
  const at = (ms: number) => `1970-01-01T00:00:00.00${ms}Z`
  expect(markdown.slice(markdown.indexOf("## "))).toBe(
    [
      `## Prompt, ${at(1)}\n\nWhere is it?\n`,
      `## Call of \`Bash\`, ${at(2)}\n\n\`\`\`\nrg it\n\`\`\`\n`,
      `## Result of \`Bash\` (failed), ${at(3)}\n\n\`\`\`\`\n\`\`\`\nhere\n\`\`\`\`\n`,
      `## Reply, ${at(4)}\n\nThere.\n`,
    ].join("\n"),
  )
  const { turns } = JSON.parse(await content("json")) as { turns: { kind: string; text: string }[] }
  expect(turns.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
    "prompt: Where is it?",
    "tool_call: rg it",
    "tool_result: ```\nhere",
    "reply: There.",
  ])
})

test("a session without thoughts is exported as what it is", async () => {
  const empty = await module.recovery.startNew({ surface: "mcp" }, { title: "Nothing yet" })
  const markdown = module.markdown(await module.whole(empty.id))
  expect(markdown).toContain("# Nothing yet")
  expect(markdown).toContain("- 0 thoughts, 0 branches")
  expect(markdown).not.toContain("- Project")
})
