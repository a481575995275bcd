import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { receivedHooks } from "../fixtures/hooks.ts"
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
import { proves } from "../promises.ts"

const SOON = { timeout: 60_000, interval: 50 }
const SLOW_MS = 240_000
const ASKED = "How do invoices survive a crash of the broker?"
const DECISION = "We decided to keep invoices in an outbox table with SKIP LOCKED, because two workers run."
const SEARCH = "mcp__throughline__search_conversation_history"
const RESUME = "mcp__throughline__resume_session_context"
/** Longer than any budget here, so that one that is not kept to is seen. */
const RAMBLING = "Then I looked at the quays and at the cranes beside them. ".repeat(200)

describe.each(CLAUDES)("Claude Code $version, killed after it has named a decision", ({ name }) => {
  let home: TestHome
  let model: ModelApi
  let cwd: string
  beforeAll(async () => {
    home = makeHome()
    model = await startModelApi(anthropicMessages)
    cwd = join(home.env.HOME!, "harbour")
    mkdirSync(cwd)
    writeFileSync(join(cwd, "note.txt"), "Nothing of note.\n")
    await home.json("setup", "claude-code", "--yes")
    await home.run("start")
  })
  afterAll(async () => {
    await model.close()
    await home.dispose()
  })

  const start = (prompt: string, ...args: string[]): ChildProcess =>
    spawn(
      agents.claude(name),
      ["-p", prompt, "--output-format", "json", "--allowedTools", "Read,mcp__throughline__*", ...args],
      { cwd, env: claudeEnv(home, model.url, cwd), stdio: ["ignore", "pipe", "ignore"] },
    )
  /** One whole life of the agent, with what reached its model on the way. */
  const live = async (prompt: string, ...args: string[]) => {
    const since = model.requests.length
    const child = start(prompt, ...args)
    let printed = ""
    child.stdout!.on("data", (chunk: Buffer) => {
      printed += chunk
    })
    await once(child, "close")
    const { session_id, is_error } = JSON.parse(printed) as { session_id: string; is_error: boolean }
    expect(is_error, printed).toBe(false)
    return { nativeId: session_id, requests: model.requests.slice(since) }
  }
  const restart = async (...settings: string[]) => {
    await home.kill()
    const { code, stderr } = await home.run("start", ...settings.flatMap((setting) => ["--set", setting]))
    expect(code, stderr).toBe(0)
  }
  const readsNote = () => toolUse("Read", { file_path: join(cwd, "note.txt") })
  /** An agent begins before its MCP servers have answered; one whose daemon is dead answers later. */
  const onceOffered = (tool: string, input: Record<string, unknown>) => {
    let isCalled = false
    return async ({ tools }: ModelRequest): Promise<Block[] | undefined> => {
      if (isCalled) return undefined
      isCalled = tools.some((offered) => offered.name === tool)
      if (!isCalled) await sleep(300)
      return [isCalled ? toolUse(tool, input) : readsNote()]
    }
  }

  test(`after a kill of agent and daemon, a new process finds it with the tools. ${proves("search.by-words")}`, {
    timeout: SLOW_MS,
  }, async () => {
    let agent: ChildProcess | undefined
    model.script(
      steps([text(DECISION), readsNote()], async () => {
        await vi.waitFor(() => expect(transcripts(home)).toContain(DECISION), SOON)
        await home.kill()
        agent?.kill("SIGKILL")
        return [text("Nobody hears this.")]
      }),
    )
    agent = start(ASKED)
    await once(agent, "close")
    expect(agent.signalCode).toBe("SIGKILL")

    const calls = [
      onceOffered(SEARCH, { query: "invoices broker crash" }),
      onceOffered(RESUME, { max_context_tokens: 500 }),
    ]
    model.script(async (request) => {
      for (const call of calls) {
        const said = await call(request)
        if (said) return said
      }
      return [text(RAMBLING)]
    })
    const { requests } = await live("What was it that we settled?")
    const [found, resumed] = resultsOf(requests, SEARCH, RESUME)
    const { exchanges } = JSON.parse(found!) as { exchanges: { user: string; ai: string; project: string }[] }
    expect(exchanges[0]).toMatchObject({ user: ASKED, ai: DECISION, project: "harbour" })
    expect(exchanges, "what the agent is asking just now is no answer").toHaveLength(1)
    expect((JSON.parse(resumed!) as { brief: string }).brief).toContain(DECISION)
    expect(countTokens(resumed!)).toBeLessThanOrEqual(500)
  })

  describe(`a session that begins. ${proves("resume.at-start")}`, () => {
    test("has the brief in its first request, within the budget", { timeout: SLOW_MS }, async () => {
      model.script(() => [text("Fine.")])
      for (const budget of [120, 600]) {
        await restart("resume.onStart=brief", `resume.maxTokens=${budget}`)
        const told = toldAtStart((await live("Let us begin.")).requests[0]!)
        expect(told, `${budget}`).toHaveLength(1)
        expect(told[0]).toContain(DECISION)
        expect(countTokens(told[0]!)).toBeLessThanOrEqual(budget)
      }
    })

    test("has a pointer and not the decision, or nothing at all", { timeout: SLOW_MS }, async () => {
      await restart()
      const [pointed] = (await live("Let us begin.")).requests
      const told = toldAtStart(pointed!)
      expect(told).toEqual([expect.stringMatching(/Call resume_session_context with session_id [0-9a-f]{8}/)])
      expect(countTokens(told[0]!)).toBeLessThanOrEqual(150)
      await restart("resume.onStart=off")
      const [untold] = (await live("Let us begin.")).requests
      expect(toldAtStart(untold!)).toEqual([])
      for (const { body } of [pointed!, untold!]) expect(wordsOf(body)).not.toContain(DECISION)
    })

    test("compacted, gets its own history once", { timeout: SLOW_MS }, async () => {
      await restart("resume.onStart=brief", "resume.maxTokens=300")
      model.script(() => [text("The crane is painted yellow.")])
      const { nativeId } = await live("Which colour has the crane?")
      await live("And why?", "--resume", nativeId)
      model.script(() => [text("A talk about a crane.")])
      await live("/compact", "--resume", nativeId)
      expect(
        receivedHooks(home).filter(({ start, session }) => start === "compact" && session === nativeId),
      ).toHaveLength(1)
      const { requests } = await live("Go on.", "--resume", nativeId)
      const told = toldAtStart(requests[0]!)
      expect(told).toHaveLength(1)
      expect(told[0]).toMatch(/^# Where "Which colour has the crane\?" stood/)
      expect(countTokens(told[0]!)).toBeLessThanOrEqual(300)
    })
  })
})

/** What reached the model of the answers to these tools, in the order of the tools. */
function resultsOf(requests: ModelRequest[], ...tools: string[]): (string | undefined)[] {
  const { messages } = requests.at(-1)!.body as { messages: { content: string | Part[] }[] }
  const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
  return tools.map((tool) => {
    const call = parts.find((part) => part.type === "tool_use" && part.name === tool)
    const result = parts.find((part) => part.type === "tool_result" && part.tool_use_id === call?.id)
    return result && wordsOf(result.content)
  })
}

interface Part {
  type: string
  id?: string
  name?: string
  tool_use_id?: string
  content?: unknown
}

/** Every text that a hook has added at the start; the agent puts it between things of its own. */
function toldAtStart({ body }: ModelRequest): string[] {
  const parts = wordsOf(body.messages).split("SessionStart hook additional context: ").slice(1)
  return parts.map((part) => part.split(NEXT_PART)[0]!.trim())
}

const NEXT_PART =
  /\n(?:# Environment|Available agent types|Today's date|The following|user\n|system\n)|<\/system-reminder>/

function transcripts(home: TestHome): string {
  const folder = join(home.env.HOME!, ".claude", "projects")
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl"))
  return files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n")
}
