import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLAUDES, runClaude } from "../fixtures/agents.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import {
  anthropicMessages,
  type Block,
  type ModelApi,
  startModelApi,
  text,
  toolUse,
  wordsOf,
} from "../fixtures/model-api.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"

const SOON = { timeout: 60_000, interval: 100 }
const SLOW_MS = 240_000
const WHICH = CLAUDES[0]!.name
/** What Claude Code writes around a summary, for its model. */
const BOILERPLATE =
  /session is being continued|system-reminder|without asking the user|continue the conversation|read the full transcript/i

let q: QueueHome
let model: ModelApi
beforeAll(async () => {
  q = await makeQueueHome(["web"])
  model = await startModelApi(anthropicMessages)
}, SLOW_MS)
afterAll(async () => {
  await model.close()
  await q.dispose()
})

const run = (prompt: string, resume?: string) =>
  runClaude({ home: q.home, which: WHICH, modelUrl: model.url, cwd: q.dirOf("web"), prompt, ...(resume && { resume }) })
const use = (tool: string, input: Record<string, unknown>): Block[] => [toolUse(`mcp__throughline__${tool}`, input)]

describe("two real Claude Codes at work in one project", () => {
  let one: string

  test(
    "each get their own session back, though the other's is newer, and their thoughts go there",
    async () => {
      const [oneBegan, twoThought] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const told: Record<string, string[]> = { ONE: [], TWO: [] }
      model.script(async ({ body, turn, toolResults }) => {
        const who = wordsOf(body.messages).includes("You are ONE.") ? "ONE" : "TWO"
        told[who]!.push(...toolResults.map(({ content }) => wordsOf(content)))
        if (turn === 0) {
          if (who === "TWO") await oneBegan.promise
          return use("init", { operation: "start_new", title: `of ${who}` })
        }
        if (who === "TWO") {
          if (turn === 1) return use("thought", { thought: "TWO thinks.", nextThoughtNeeded: true })
          twoThought.resolve()
          return [text("TWO is done.")]
        }
        oneBegan.resolve()
        if (turn > 1)
          return turn === 2 ? use("thought", { thought: "ONE thinks.", nextThoughtNeeded: false }) : [text("Done.")]
        await twoThought.promise
        return use("init", { operation: "load_context" })
      })
      const [first, second] = await Promise.all([run("You are ONE."), run("You are TWO.")])
      expect([first.code, second.code], first.stderr + second.stderr).toEqual([0, 0])
      one = first.nativeSession
      expect(told.ONE![1]).toMatch(/Your session \S+ \\"of ONE\\"/)
      const { sessions } = await q.call<{ sessions: { title: string; thoughtCount: number }[] }>("sessions.list", {})
      const counts = Object.fromEntries(sessions.map(({ title, thoughtCount }) => [title, thoughtCount]))
      expect(counts).toMatchObject({ "of ONE": 1, "of TWO": 1 })
    },
    SLOW_MS,
  )

  test(
    "compacted by its own command, one leaves none of the program's words in the brief, as goal or as decision",
    async () => {
      model.script(() => [text("We decided to paint the crane yellow because ships must see it.")])
      await run("Which colour shall the crane have?", one)
      model.script(() => [text("<summary>The crane is to be yellow, so that ships see it.</summary>")])
      expect((await run("/compact", one)).code).toBe(0)
      model.script(() => [text("It is painted.")])
      await run("Paint it.", one)
      const told = () => wordsOf(model.requests.at(-1)!.body)
      expect(told(), "Claude Code has compacted it, and told its model so").toMatch(BOILERPLATE)
      const { sessions } = await q.call<{ sessions: { id: string; nativeId: string }[] }>("sessions.list", {})
      const { id } = sessions.find(({ nativeId }) => nativeId === one)!
      const brief = () => q.call("resume_session_context", { session_id: id }).then(wordsOf)
      await expect.poll(brief, SOON).toContain("Paint it.")
      expect(await brief()).not.toMatch(BOILERPLATE)
    },
    SLOW_MS,
  )
})

test(
  "while the real Claude Code shows a permission prompt, all three lists name its session",
  async () => {
    model.script(() => [toolUse("Bash", { command: "touch made-by-the-model" })])
    let claude: ClaudeTerminal | undefined
    try {
      claude = await startClaude(q, { which: WHICH, team: "web", modelUrl: model.url, permissionMode: "default" })
      await claude.type("Make the file.")
      await expect.poll(async () => (await claude!.live())?.status, SOON).toBe("waiting")
      const { nativeId } = (await claude.live())!
      const lists = async () => {
        const { sessions } = await q.call<{
          sessions: { session: { id: string; nativeId: string }; status: string }[]
        }>("sessions.live", {})
        const waits = sessions.filter(({ status }) => status === "waiting")
        const named = async (operation: string) => {
          type Named = Record<"permissions" | "atTerminal", { sessionId?: string }[]>
          const { permissions, atTerminal } = await q.call<Named>(operation, {})
          return [...permissions, ...atTerminal].map(({ sessionId }) => sessionId)
        }
        return {
          native: waits.map(({ session }) => session.nativeId),
          live: waits.map(({ session }) => session.id),
          waiting: await named("waiting"),
          permissions: await named("permissions.list"),
        }
      }
      await expect.poll(async () => (await lists()).native, SOON).toEqual([nativeId])
      const { live, waiting, permissions } = await lists()
      expect([waiting, permissions]).toEqual([live, live])
      claude.key("Escape")
      await expect.poll(lists, SOON).toEqual({ native: [], live: [], waiting: [], permissions: [] })
    } finally {
      await claude?.end()
    }
  },
  SLOW_MS,
)
