import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agents, CLAUDES, claudeEnv, codexEnv } from "../fixtures/agents.ts"
import { type AskAnswer, type AskingHome, asking } from "../fixtures/asking.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { deedFor, directivesIn } from "../fixtures/directives.ts"
import {
  anthropicMessages,
  type ModelApi,
  type ModelRequest,
  startModelApi,
  text,
  toolUse,
  wordsOf,
} from "../fixtures/model-api.ts"
import { openaiResponses } from "../fixtures/model-api-responses.ts"

const SOON = { timeout: 60_000, interval: 50 }
const SLOW_MS = 240_000
const WAIT = { timeout: 60_000 }

/** What people said, in whichever of the vendors' forms. */
const saidTo = ({ body }: ModelRequest) =>
  wordsOf(((body.messages ?? body.input) as { role?: string }[]).filter(({ role }) => role === "user"))

/** Obeys the directives; `<<ASK team words>>` has it call our tool, and say what came of it. */
function obey(api: ModelApi, tool: (name: string, input: Record<string, unknown>) => ReturnType<typeof toolUse>): void {
  api.script((request) => {
    const said = saidTo(request)
    const { word, rest } = directivesIn(said).at(-1) ?? { word: "", rest: "" }
    const result = request.toolResults.at(-1)
    if (word === "ASK" && result) return [text(`was told: ${wordsOf(result.content)}`)]
    if (word === "ASK") {
      const [team, ...words] = rest.split(" ")
      return [tool("teams_ask", { team, question: words.join(" ").replaceAll("{", "<<").replaceAll("}", ">>") })]
    }
    const deed = deedFor(said, undefined)
    return [text(deed.kind === "say" ? deed.text : "?")]
  })
}

async function begin(home: TestHome, teams: Record<string, object>): Promise<AskingHome> {
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams }))
  await home.run("start")
  return asking(home, (team) => (teams[team] as { project: string }).project)
}

describe.each(CLAUDES)("teams of Claude Code $version in folders of every kind", ({ name }) => {
  let home: TestHome
  let model: ModelApi
  let b: AskingHome
  const folders: Record<string, string> = {}
  beforeAll(async () => {
    home = makeHome()
    model = await startModelApi(anthropicMessages)
    obey(model, (tool, input) => toolUse(`mcp__throughline__${tool}`, input))
    const root = home.env.HOME!
    const long = join(root, ...Array.from({ length: 10 }, () => "d".repeat(40)))
    Object.assign(folders, {
      dot: join(root, "a.b"),
      underscore: join(root, "a_b"),
      blank: join(root, "a b"),
      umlaut: join(root, "ünï"),
      long: `${long.slice(0, 249)}e`,
    })
    for (const dir of Object.values(folders)) mkdirSync(dir, { recursive: true })
    mkdirSync(join(root, "behind"))
    folders.link = join(root, "link")
    symlinkSync(join(root, "behind"), folders.link)
    for (const dir of Object.values(folders)) Object.assign(home.env, claudeEnv(home, model.url, dir))
    const program = agents.claude(name)
    b = await begin(
      home,
      Object.fromEntries(Object.entries(folders).map(([team, project]) => [team, { project, program }])),
    )
  })
  afterAll(async () => {
    await b.dispose()
    await model.close()
  })

  test("6 of 6 answer with one call of the model each, in one session each", { timeout: SLOW_MS }, async () => {
    const teams = Object.keys(folders)
    expect(folders.long).toHaveLength(250)
    const answers: AskAnswer[] = []
    for (const team of teams) answers.push(await b.ask(team, `<<SAY I am ${team}>>`, WAIT))
    expect(answers.map(({ answer }) => answer)).toEqual(teams.map((team) => `I am ${team}`))
    expect(model.requests).toHaveLength(teams.length)
    // The older Claude Code writes its file a moment after it has answered.
    const files = () => b.transcripts().map((file) => file.split("/").at(-1)!.replace(".jsonl", ""))
    await expect.poll(() => files().toSorted(), SOON).toEqual(answers.map(({ sessionId }) => sessionId).toSorted())
    for (const team of teams) await b.call("teams_control", { operation: "sleep", team })
    for (const team of teams)
      expect(await b.ask(team, "<<RECALL again>>", WAIT)).toMatchObject({ answer: `heard: I am ${team} again` })
    expect(model.requests).toHaveLength(2 * teams.length)
    expect(b.transcripts(), "no orphan").toHaveLength(teams.length)
  })

  test("a daemon that is killed loses no answer of an agent that finished", { timeout: SLOW_MS }, async () => {
    const held = Promise.withResolvers<void>()
    model.script(async (request) => {
      if (saidTo(request).includes("<<LATE")) await held.promise
      return [text("better late")]
    })
    const { messageId } = await b.ask("dot", "<<LATE x>>", { timeout: 0 })
    const before = model.requests.length
    await expect.poll(() => model.requests.length, { timeout: 60_000 }).toBe(before + 1)
    await b.until(messageId, ({ status }) => status === "delivered" || status === "running")
    await home.kill()
    setTimeout(held.resolve, 500)
    await home.run("start")
    const found = await b.until(messageId, ({ status }) => !["delivered", "running"].includes(status), 60_000)
    // It goes on without its reader, and keeps what it said.
    expect(found).toMatchObject({ status: "done", answer: "better late" })
  })
})

describe("real Claude Code and real Codex ask each other", () => {
  let home: TestHome
  let models: ModelApi[]
  let b: AskingHome
  beforeAll(async () => {
    home = makeHome()
    const root = home.env.HOME!
    models = [await startModelApi(anthropicMessages), await startModelApi(openaiResponses)]
    obey(models[0]!, (tool, input) => toolUse(`mcp__throughline__${tool}`, input))
    obey(models[1]!, (tool, input) => toolUse(`mcp__throughline__${tool}`, input))
    for (const dir of ["anna", "carl"]) mkdirSync(join(root, dir))
    Object.assign(home.env, claudeEnv(home, models[0]!.url, join(root, "anna")), codexEnv(home, models[1]!.url))
    mkdirSync(join(root, ".claude"), { recursive: true })
    writeFileSync(
      join(root, ".claude", "settings.json"),
      JSON.stringify({ permissions: { allow: ["mcp__throughline"] } }),
    )
    b = await begin(home, {
      anna: { project: join(root, "anna"), program: agents.claude("claude-new") },
      carl: { project: join(root, "carl"), platform: "codex", program: agents.codex(), skipPermissions: true },
    })
  })
  afterAll(async () => {
    await b.dispose()
    for (const model of models) await model.close()
  })

  test("in both directions, and the second question remembers the first", { timeout: SLOW_MS }, async () => {
    const first = await b.ask("anna", "<<ASK carl {SAY plum}>>", WAIT)
    expect(first.answer).toContain("plum")
    const second = await b.ask("anna", "<<ASK carl {RECALL pit}>>", WAIT)
    expect(second.answer).toContain("heard: plum pit")
    const third = await b.ask("carl", "<<ASK anna {SAY fig}>>", WAIT)
    expect(third.answer).toContain("fig")
    const fourth = await b.ask("carl", "<<ASK anna {RECALL leaf}>>", WAIT)
    expect(fourth.answer).toContain("heard: fig leaf")
    const { pairs } = await b.status()
    expect(pairs.map(({ from, to }) => `${from ?? "owner"} ${to}`).toSorted()).toEqual([
      "anna carl",
      "carl anna",
      "owner anna",
      "owner carl",
    ])
    const loop = await b.ask("anna", "<<ASK carl {ASK anna me}>>", WAIT)
    expect(loop.answer).toMatch(/ask_loop|waits for this answer already/)
  })

  test("both continue their sessions after sleep", { timeout: SLOW_MS }, async () => {
    for (const [fromTeam, team] of [
      ["anna", "carl"],
      ["carl", "anna"],
    ] as const)
      await b.call("teams_control", { operation: "sleep", team, fromTeam })
    expect((await b.ask("carl", "<<RECALL stone>>", { ...WAIT, fromTeam: "anna" })).answer).toContain("plum")
    expect((await b.ask("anna", "<<RECALL stem>>", { ...WAIT, fromTeam: "carl" })).answer).toContain("fig")
  })
})
