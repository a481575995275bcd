import { mkdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLAUDES, codexEnv, runClaude, runCodex } from "../fixtures/agents.ts"
import { countsOf, showSession } from "../fixtures/captured.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { anthropicMessages, type ModelApi, startModelApi, text, toolUse, wordsOf } from "../fixtures/model-api.ts"
import { openaiResponses } from "../fixtures/model-api-responses.ts"

interface HandoffAnswer {
  nativeId: string
  path: string
  promptFile: string
  command: string
  tokens: number
}

/** In the order in which they must reach the model. */
function inOrder(told: string, words: string[]): void {
  let at = 0
  for (const word of words) {
    at = told.indexOf(word, at)
    expect(at, `${word} in what the model was told`).toBeGreaterThanOrEqual(0)
    at += word.length
  }
}

describe.each(CLAUDES)("from Claude Code $version to Codex and back", ({ name }) => {
  let home: TestHome
  let claudeModel: ModelApi
  let codexModel: ModelApi
  let cwd: string
  let first: { id: string; nativeId: string }
  let second: { id: string; nativeId: string }
  const SAID_FIRST = ["Which way is drier, ça va, 湖?", "I look.", "The long way is.", "And shorter?", "The swamp."]
  const SAID_SECOND = ["Then which shoes?", "Rubber boots."]

  beforeAll(async () => {
    home = makeHome()
    cwd = join(home.env.HOME!, "my.lake_v1 project")
    mkdirSync(cwd)
    claudeModel = await startModelApi(anthropicMessages)
    codexModel = await startModelApi(openaiResponses)
    // The session that is written names the provider of these settings.
    codexEnv(home, codexModel.url)
    await home.json("sources")
  })
  afterAll(async () => {
    await claudeModel.close()
    await codexModel.close()
    await home.dispose()
  })

  const claude = async (prompt: string, resume?: string) => {
    const modelUrl = claudeModel.url
    const answer = await runClaude({ home, which: name, modelUrl, cwd, prompt, ...(resume && { resume }) })
    expect(answer.code, answer.stderr).toBe(0)
    await home.json("import")
    return (await showSession(home, "claude-code", answer.nativeSession))!
  }
  const codex = async (prompt: string, resume: string) => {
    const answer = await runCodex({ home, modelUrl: codexModel.url, cwd, prompt, resume })
    expect(answer.code, answer.stderr).toBe(0)
    expect(answer.nativeSession).toBe(resume)
    await home.json("import")
    return (await showSession(home, "codex", resume))!
  }
  const spoken = (turns: { kind: string; text: string }[]) =>
    turns.filter(({ kind }) => kind === "prompt" || kind === "reply").map(({ text }) => text)

  test("Codex continues a session of Claude Code", async () => {
    claudeModel.script(({ turn }) =>
      turn === 0
        ? [text(SAID_FIRST[1]!), toolUse("Bash", { command: "echo mud", description: "look" })]
        : [text(turn === 1 ? SAID_FIRST[2]! : SAID_FIRST[4]!)],
    )
    const begun = await claude(SAID_FIRST[0]!)
    const { session, turns } = await claude(SAID_FIRST[3]!, begun.session.nativeId)
    expect(spoken(turns)).toEqual(SAID_FIRST)
    first = session

    const made = await home.json<HandoffAnswer>("handoff", first.id.slice(0, 8), "--to", "codex")
    expect(made.command).toBe(`cd '${cwd}' && codex resume ${made.nativeId}`)
    expect(statSync(made.path).mode & 0o777).toBe(0o600)
    codexModel.script(() => [text(SAID_SECOND[1]!)])
    const went = await codex(SAID_SECOND[0]!, made.nativeId)
    const told = wordsOf(codexModel.requests.at(-1)!.body.input)
    inOrder(told, ["handed off", ...SAID_FIRST.slice(0, 2), "[Bash ", ...SAID_FIRST.slice(2), SAID_SECOND[0]!])

    // What was copied is kept where it was said, and leads there.
    expect(spoken(went.turns)).toEqual(SAID_SECOND)
    expect(went.lineage).toEqual([{ kind: "handover", parentNativeId: first.nativeId }])
    expect(went.session).toMatchObject({ title: SAID_FIRST[0], projectPath: cwd, promptCount: 1 })
    second = went.session
  }, 240_000)

  test("Claude Code continues a session of both", async () => {
    const made = await home.json<HandoffAnswer>("handoff", second.id, "--to", "claude-code")
    expect(made.command).toBe(`cd '${cwd}' && claude --resume ${made.nativeId}`)
    claudeModel.script(() => [text("Take a stick, too.")])
    const before = readFileSync(made.path, "utf8")
    const { session, turns, lineage } = await claude("Anything else?", made.nativeId)
    expect(session.nativeId).toBe(made.nativeId)
    expect(readFileSync(made.path, "utf8").startsWith(before)).toBe(true)
    const told = wordsOf(claudeModel.requests.at(-1)!.body.messages)
    inOrder(told, ["handed off", ...SAID_FIRST, ...SAID_SECOND, "Anything else?"])
    expect(spoken(turns)).toEqual(["Anything else?", "Take a stick, too."])
    expect(lineage).toEqual([{ kind: "handover", parentNativeId: second.nativeId }])
    expect(session.title).toBe(SAID_FIRST[0])
  }, 240_000)

  test("nothing is stored twice, nothing is unknown, and the first session is unchanged", async () => {
    for (const platform of ["claude-code", "codex"])
      expect(await countsOf(home, platform)).toMatchObject({ unknown: 0, unreadable: 0, troubles: [] })
    const { turns, lineage } = (await showSession(home, "claude-code", first.nativeId))!
    expect(spoken(turns)).toEqual(SAID_FIRST)
    expect(lineage).toEqual([])
    expect((await countsOf(home, "claude-code")).sessions).toBe(2)
    expect((await countsOf(home, "codex")).sessions).toBe(1)
  })

  test("an agent that reads no foreign sessions gets a brief as its first prompt", async () => {
    const made = await home.json<HandoffAnswer>("handoff", second.id, "--to", "gemini-cli")
    const prompt = readFileSync(made.promptFile, "utf8")
    for (const words of [SAID_FIRST[0]!, ...SAID_SECOND]) expect(prompt).toContain(words)
    expect(made.command).toBe(`cd '${cwd}' && sh -c 'exec gemini -i "$(cat "$0")"' ${made.promptFile}`)
    expect(statSync(made.promptFile).mode & 0o777).toBe(0o600)
  })

  test("an unknown agent or session is refused", async () => {
    expect((await home.run("handoff", second.id, "--to", "nobody")).stderr).toContain('unknown agent "nobody"')
    expect((await home.run("handoff", "ffffffff", "--to", "codex")).code).toBe(3)
  })
})
