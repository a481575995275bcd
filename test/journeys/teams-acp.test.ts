import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agents, claudeEnv, geminiEnv, opencodeEnv } from "../fixtures/agents.ts"
import { type AskingHome, asking } from "../fixtures/asking.ts"
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
import { openaiChat } from "../fixtures/model-api-chat.ts"
import { geminiContent } from "../fixtures/model-api-gemini.ts"

const SLOW_MS = 240_000
const WAIT = { timeout: 90_000 }

/** What people said, in whichever of the vendors' forms; what tools said is left out. */
function saidTo({ body }: ModelRequest): string {
  const all = (body.messages ?? body.contents) as { role?: string; parts?: { text?: string }[] }[]
  const people = all.filter(({ role }) => role === "user")
  return wordsOf(people.map((one) => one.parts?.map((part) => part.text) ?? one))
}

/** `<<ASK team words>>` makes it call our tool, and report the result; braces are for nested directives. */
const obey = (request: ModelRequest) => {
  const said = saidTo(request)
  const { word, rest } = directivesIn(said).at(-1) ?? { word: "", rest: "" }
  const result = request.toolResults.at(-1)
  if (word !== "ASK") {
    const deed = deedFor(said, undefined)
    return [text(deed.kind === "say" ? deed.text : "?")]
  }
  if (result) return [text(`was told: ${wordsOf(result.content)}`)]
  const [team, ...words] = rest.split(" ")
  const question = words.join(" ").replaceAll("{", "<<").replaceAll("}", ">>")
  const tool = request.tools.find(({ name }) => name.endsWith("teams_ask"))
  // Claude Code does not tell the model of all its tools at once.
  return [toolUse(tool?.name ?? "mcp__throughline__teams_ask", { team, question })]
}

describe("real Gemini CLI and real opencode are asked through the pool, and ask", () => {
  let home: TestHome
  let models: ModelApi[]
  let b: AskingHome
  beforeAll(async () => {
    home = makeHome()
    const root = home.env.HOME!
    models = await Promise.all([geminiContent, openaiChat, anthropicMessages].map((wire) => startModelApi(wire)))
    for (const model of models) model.script(obey)
    const projects = { gina: "gina", otto: "otto", anna: "anna" }
    for (const dir of Object.values(projects)) mkdirSync(join(root, dir))
    const [gemini, opencode, claude] = models.map(({ url }) => url)
    Object.assign(home.env, claudeEnv(home, claude!, join(root, "anna")))
    Object.assign(home.env, geminiEnv(home, gemini!), opencodeEnv(home, opencode!))
    mkdirSync(join(root, ".claude"), { recursive: true })
    const settings = { permissions: { allow: ["mcp__throughline"] } }
    writeFileSync(join(root, ".claude", "settings.json"), JSON.stringify(settings))
    const teams = {
      gina: { project: join(root, "gina"), platform: "gemini-cli", program: agents.gemini(), skipPermissions: true },
      otto: { project: join(root, "otto"), platform: "opencode", program: agents.opencode(), skipPermissions: true },
      anna: { project: join(root, "anna"), program: agents.claude("claude-new") },
    }
    mkdirSync(home.dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams }))
    await home.run("start")
    b = asking(home, (team) => join(root, team))
  })
  afterAll(async () => {
    await b.dispose()
    for (const model of models) await model.close()
  })
  const ask = async (team: string, question: string, more: object = {}) => {
    const answer = await b.ask(team, question, { ...WAIT, ...more })
    return answer.answer ?? JSON.stringify(answer)
  }

  test("the second question remembers the first, one call of the model each", { timeout: SLOW_MS }, async () => {
    for (const [index, team] of ["gina", "otto"].entries()) {
      expect(await ask(team, "<<SAY plum>>")).toBe("plum")
      expect(await ask(team, "<<RECALL pit>>")).toBe("heard: plum pit")
      expect(models[index]!.requests, team).toHaveLength(2)
    }
  })

  test("they ask each other, in both directions, and each pair remembers its own", { timeout: SLOW_MS }, async () => {
    expect(await ask("gina", "<<ASK otto {SAY fig}>>")).toContain("fig")
    expect(await ask("gina", "<<ASK otto {RECALL leaf}>>")).toContain("heard: fig leaf")
    expect(await ask("otto", "<<ASK gina {SAY kiwi}>>")).toContain("kiwi")
    expect(await ask("otto", "<<ASK gina {RECALL skin}>>")).toContain("heard: kiwi skin")
    const { pairs } = await b.status()
    expect(pairs.map(({ from, to }) => `${from ?? "owner"} ${to}`).toSorted()).toEqual([
      "gina otto",
      "otto gina",
      "owner gina",
      "owner otto",
    ])
  })

  test("loops are cut, though these agents do not say which session they are", { timeout: SLOW_MS }, async () => {
    const chain = (...teams: string[]) => `${teams.join(" → ")}: ${teams.at(-1)} waits for this answer already`
    expect(await ask("gina", "<<ASK otto {ASK gina me}>>")).toContain(chain("gina", "otto", "gina"))
    expect(await ask("otto", "<<ASK gina {ASK otto me}>>")).toContain(chain("otto", "gina", "otto"))
    // Two of its pairs share a process, and the one that was begun last is not the one that asks.
    expect(await ask("anna", "<<ASK otto {ASK anna me}>>")).toContain(chain("anna", "otto", "anna"))
    expect(await ask("otto", "<<SAY later>>", { threadId: "later" })).toBe("later")
    expect(await ask("anna", "<<ASK otto {ASK anna me}>>")).toContain(chain("anna", "otto", "anna"))
  })
})
