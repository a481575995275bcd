import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLAUDES, type ClaudeAnswer, runClaude } from "../fixtures/agents.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect } from "../fixtures/mcp.ts"
import {
  anthropicMessages,
  type Block,
  type ModelApi,
  type ModelRequest,
  startModelApi,
  steps,
  text,
  toolUse,
  wordsOf,
} from "../fixtures/model-api.ts"

interface Shown {
  session: { id: string; title: string; mcpRootUri: string; thoughtCount: number }
  thoughts: { thoughtNumber: number; thought: string }[]
  branches: Record<string, { thoughtNumber: number; thought: string; branchFromThought: number }[]>
}

const init = (input: Record<string, unknown>) => toolUse("mcp__throughline__init", input)
const thought = (words: string, more: Record<string, unknown> = {}) =>
  toolUse("mcp__throughline__thought", { thought: words, nextThoughtNeeded: true, ...more })

describe.each(CLAUDES)("Claude Code $version", ({ name, version }) => {
  let home: TestHome
  let model: ModelApi
  beforeAll(async () => {
    home = makeHome()
    model = await startModelApi(anthropicMessages)
  })
  afterAll(async () => {
    await model.close()
    await home.dispose()
  })

  const projectFolder = (folder: string) => {
    const path = join(home.env.HOME!, folder)
    mkdirSync(path)
    return path
  }
  /** One whole life of the agent, with what reached its model on the way. */
  const live = async (cwd: string, ...said: Parameters<typeof steps>) => {
    model.requests.length = 0
    model.script(steps(...said))
    const run = await runClaude({ home, which: name, modelUrl: model.url, cwd, prompt: "Go on." })
    expect(resultOf(run), run.stderr).toMatchObject({ subtype: "success", is_error: false })
    return { run, requests: [...model.requests] }
  }
  const newestSession = async () => {
    const { sessions } = await home.json<{ sessions: { id: string }[] }>("sessions", "--platform", "throughline")
    return home.json<Shown>("sessions", "show", sessions[0]!.id)
  }

  test("stores its reasoning with a branch, and a new process recovers all of it without an id", async () => {
    const project = projectFolder("lake")
    const main = ["The lake is frozen.", 'A "sled" holds\ntwo of us; ça va, 湖.', "So we cross at night."]
    const branch = ["Or we walk round it.", "That takes two days."]
    const onBranch = { branchId: "round", branchFromThought: 2 }
    const repeated = thought(main[2]!)
    const first = await live(
      project,
      [text("I begin."), init({ operation: "start_new", title: "Crossing" })],
      [thought(main[0]!)],
      [thought(main[1]!), thought(branch[0]!, onBranch)],
      [thought(branch[1]!, onBranch)],
      [repeated],
      [text("Enough for today.")],
    )

    expect(first.run.lines[0]).toMatchObject({ claude_code_version: version })
    const atOnce = first.requests[0]!
    const agent = await connect(home, { cwd: project })
    const { tools } = await agent.client.listTools()
    for (const wanted of ["init", "thought"]) {
      const known = atOnce.tools.find((tool) => tool.name === `mcp__throughline__${wanted}`)
      const { properties } = tools.find((tool) => tool.name === wanted)!.inputSchema
      expect(known?.schema, wanted).toMatchObject({ properties })
    }
    expect(wordsOf(atOnce.body)).toContain(agent.client.getInstructions())

    // Claude Code's own id of the call is its key, so made again it adds nothing.
    const { sessionId } = resultsIn(first.requests).at(-1)!
    await agent.call("thought", { ...repeated.input, sessionId }, { "claudecode/toolUseId": repeated.id })
    await agent.close()
    const kept = await newestSession()
    expect(kept.session).toMatchObject({ title: "Crossing", mcpRootUri: pathToFileURL(project).href, thoughtCount: 5 })
    expect(kept.thoughts.map((one) => one.thought)).toEqual(main)
    expect(kept.branches.round?.map((one) => one.thought)).toEqual(branch)

    const second = await live(project, [init({ operation: "load_context" })], [text("I remember.")])
    expect(second.run.nativeSession).not.toBe(first.run.nativeSession)
    expect(resultsIn(second.requests)).toEqual([
      expect.objectContaining({ success: true, thoughts: kept.thoughts, branches: kept.branches }),
    ])
  })

  test("does not notice that the daemon is killed between two of its calls", async () => {
    const project = projectFolder("storm")
    let killed = 0
    const { requests } = await live(
      project,
      [init({ operation: "start_new", title: "Storm" })],
      [thought("Before.")],
      async () => {
        killed = home.registration().pid
        await home.kill()
        return [thought("After.")]
      },
    )
    expect(requests.flatMap((request) => request.toolResults).map((result) => result.isError)).toEqual([
      false,
      false,
      false,
    ])
    expect(home.registration().pid).not.toBe(killed)
    const { session, thoughts } = await newestSession()
    expect(session.title).toBe("Storm")
    expect(thoughts.map((one) => one.thought)).toEqual(["Before.", "After."])
  })

  test("gets a session too long for one answer page by page, each page whole", async () => {
    const project = projectFolder("ocean")
    const all = Array.from({ length: 240 }, (_, index) => `Wave ${index + 1}: ${"water and salt ".repeat(30)}`.trim())
    const agent = await connect(home, { cwd: project })
    await agent.call("init", { operation: "start_new", title: "Ocean" })
    for (const words of all) await agent.call("thought", { thought: words, nextThoughtNeeded: true })
    await agent.close()

    const readOn = (request: ModelRequest): Block[] => {
      const [page] = resultsIn([request])
      return page?.nextCursor === undefined
        ? [text("All read.")]
        : [init({ operation: "load_context", cursor: page.nextCursor })]
    }
    const { requests } = await live(project, [init({ operation: "load_context" })], ...Array(10).fill(readOn))
    const pages = resultsIn(requests)
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.toReversed().flatMap((page) => page.thoughts?.map((one) => one.thought))).toEqual(all)
  })
})

type Result = Partial<Shown> & { success?: boolean; nextCursor?: string; sessionId?: string }

/** Both versions give the model the structured content, as JSON, and not the text beside it. */
function resultsIn(requests: ModelRequest[]): Result[] {
  return requests
    .flatMap((request) => request.toolResults)
    .map((result) => JSON.parse(String(result.content)) as Result)
}

function resultOf({ lines }: ClaudeAnswer): Record<string, unknown> | undefined {
  return lines.findLast((line) => line.type === "result")
}
