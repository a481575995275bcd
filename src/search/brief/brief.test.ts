import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { keepConversation, type Spoken } from "../../../test/fixtures/conversation.ts"
import { realTokens } from "../../../test/fixtures/tokens.ts"
import type { ProjectId, SessionId } from "../../domain/ids.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { type Brief, type Briefs, type Find, makeBriefs } from "./brief.ts"

const START = Date.parse("2026-08-01T10:00:00Z")
const DAY = 86_400_000
let dir: string
let store: Store
let briefs: Briefs
let projectId: ProjectId
let main: Session
let older: Session
let asked: Parameters<Find>[] = []
let answers: Awaited<ReturnType<Find>> = []

const edit = (path: string, id: string): Spoken => [
  "tool_call",
  JSON.stringify({ file_path: path, old_string: "a", new_string: "b" }),
  { toolName: "Edit", toolCallId: id },
]

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "brief-"))
  store = await openStore(sqlite({ path: join(dir, "throughline.db") }))
  projectId = (await store.projects.ensure("file:///w/app", START)).id
  briefs = makeBriefs({
    store,
    tokens: realTokens(dir),
    labelOf: (platform) => (platform === "codex" ? "Codex" : "Claude Code"),
    find: async (...call) => {
      asked.push(call)
      return answers
    },
  })
  older = await keepConversation(
    store,
    { platform: "codex", projectId, title: "Lake depth", startMs: START - 9 * DAY, projectPath: "/w/app" },
    [
      ["prompt", "How deep is the lake? Let's use metres for all depths."],
      ["reply", "It is forty metres deep. We'll use Redis for the queue."],
    ],
  )
  main = await keepConversation(store, { projectId, title: "Retry queue", startMs: START, projectPath: "/w/app" }, [
    ["prompt", "/clear"],
    ["prompt", "Make the retry queue survive a restart of the machine."],
    ["reply", "I looked at it. I decided to write each message to disk first, because memory is lost."],
    edit("/w/app/src/queue.ts", "c1"),
    ["tool_result", "ok", { toolCallId: "c1" }],
    edit("/w/app/src/queue.ts", "c2"),
    ["tool_result", "ok", { toolCallId: "c2" }],
    edit("/w/app/src/broken.ts", "c3"),
    ["tool_result", "String to replace not found", { toolCallId: "c3", isError: true }],
    ["prompt", "Let's go with PostgreSQL for the queue instead of Redis."],
    [
      "reply",
      "Done. PostgreSQL it is.\n\nNext steps:\n- write the migration\n- measure it\n\nShall I begin with the migration?",
    ],
    [
      "tool_call",
      JSON.stringify({
        todos: [
          { content: "write tests", status: "in_progress" },
          { content: "read the code", status: "completed" },
        ],
      }),
      { toolName: "TodoWrite", toolCallId: "c4" },
    ],
    ["tool_call", JSON.stringify({ command: "npm test" }), { toolName: "Bash", toolCallId: "c5" }],
    ["tool_result", "12 passed\n1 failed\nsee above", { toolCallId: "c5" }],
    ["tool_call", "*** Begin Patch\n*** Add File: src/new.ts\n+x\n*** End Patch", { toolName: "apply_patch" }],
    ["prompt", "Now add a limit of 湖 to it."],
  ])
})
afterAll(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const make = async (request: Partial<Parameters<Briefs["make"]>[0]> = {}): Promise<Brief> =>
  (await briefs.make({ projectId, maxTokens: 2000, ...request }))!
/** What stands under a heading. */
const under = (brief: string, title: string) => brief.split(`## ${title}\n`)[1]?.split("\n## ")[0]?.trim() ?? ""

describe("a brief says", () => {
  test("which session it is about, where and when", async () => {
    const { brief, session } = await make()
    expect(session.id).toBe(main.id)
    expect(brief).toContain(
      `# Where "Retry queue" stood\nClaude Code session ${main.id.slice(0, 8)} in /w/app, branch main, last active 2026-08-01 10:00 UTC.`,
    )
  })

  test("the goal: the first prompt that sets a task", async () => {
    expect(under((await make()).brief, "Goal")).toMatch(/^Make the retry queue survive a restart of the machine\./)
  })

  test("decisions in their newest form, including those of earlier sessions", async () => {
    const decisions = under((await make()).brief, "Decisions")
    expect(decisions).toContain("- 2026-08-01: Let's go with PostgreSQL for the queue instead of Redis.")
    expect(decisions).toContain("I decided to write each message to disk first, because memory is lost.")
    expect(decisions).toContain("- 2026-07-23: Let's use metres for all depths.")
    expect(decisions).not.toContain("Redis for the queue")
  })

  test("changed files, without failed changes", async () => {
    expect(under((await make()).brief, "Files touched")).toBe("- src/new.ts\n- src/queue.ts (2 times)")
  })

  test("open ends", async () => {
    expect(under((await make()).brief, "Open ends").split("\n")).toEqual([
      "- Not answered: Now add a limit of 湖 to it.",
      "- To do: write tests",
      "- Failed: Bash npm test: 1 failed",
      "- write the migration",
      "- measure it",
      "- Asked: Shall I begin with the migration?",
    ])
  })

  test("the last exchange, and earlier sessions", async () => {
    const { brief, exchanges } = await make()
    expect(under(brief, "Last exchange")).toBe("**User** (2026-08-01 10:00): Now add a limit of 湖 to it.")
    expect(under(brief, "Earlier sessions")).toBe(`- 2026-07-23 10:00 "Lake depth" (Codex, ${older.id.slice(0, 8)})`)
    expect(exchanges[0]).toMatchObject({ sessionId: main.id, user: "Now add a limit of 湖 to it." })
  })

  test("the task state, if there is one", async () => {
    expect(under((await make({ taskState: "step 3 of 5" })).brief, "Task state")).toBe("step 3 of 5")
    expect((await make()).brief).not.toContain("Task state")
  })

  test("without a query, the exchanges before the last one", async () => {
    const { brief, exchanges } = await make()
    expect(under(brief, "Before that")).toMatch(/^\*\*User\*\* .*: Let's go with PostgreSQL/)
    expect(exchanges.length).toBeGreaterThan(1)
  })

  test("with a query, its hits in the project", async () => {
    asked = []
    const [first] = await store.turns.outline(older.id)
    answers = [{ exchange: first!.seq, sessionId: older.id, score: 1 }]
    const { brief, exchanges } = await make({ query: "depth of the lake" })
    expect(asked).toEqual([["depth of the lake", { projectId }, 24]])
    expect(under(brief, "Related exchanges")).toContain(`session ${older.id.slice(0, 8)}): How deep is the lake?`)
    expect(exchanges.at(-1)).toMatchObject({
      sessionId: older.id,
      platform: "codex",
      user: expect.stringContaining("deep"),
    })
  })

  test("about another session on request, or when the newest one asks", async () => {
    expect((await make({ session: older })).brief).toContain('# Where "Lake depth" stood')
    expect((await make({ except: [main.id] })).session.id).toBe(older.id)
  })

  test("nothing about a project without turns", async () => {
    const empty = (await store.projects.ensure("file:///w/empty", START)).id
    expect(await briefs.make({ projectId: empty, maxTokens: 500 })).toBeUndefined()
    expect(await briefs.pointer({ projectId: empty, maxTokens: 500 })).toBeUndefined()
  })
})

test("thoughts count as decisions", async () => {
  const thinking = (await store.projects.ensure("file:///w/thinking", START)).id
  const session = await keepConversation(store, { platform: "throughline", projectId: thinking, startMs: START }, [])
  await store.transaction((tx) =>
    tx.thoughts.add({
      sessionId: session.id,
      branchId: null,
      number: 1,
      text: "We should go with a trie.",
      totalThoughts: 1,
      nextThoughtNeeded: false,
      isRevision: false,
      revisesThought: null,
      branchFromThought: null,
      renumberedFrom: null,
      key: null,
      createdAtMs: START,
    }),
  )
  expect((await make({ projectId: thinking })).brief).toContain("- 2026-08-01: We should go with a trie.")
})

test("a compaction's summary is part of the goal", async () => {
  const compacted = await keepConversation(store, { projectId: null, startMs: START }, [
    ["prompt", "Count all the stones in the lake."],
    ["summary", "Seven stones are counted so far."],
    ["prompt", "Go on."],
    ["reply", "Eight."],
  ])
  expect(under((await make({ projectId: undefined, session: compacted })).brief, "Goal")).toBe(
    "Count all the stones in the lake.\nSummed up by the agent: Seven stones are counted so far.",
  )
})

describe("a brief stays within its budget of tokens", () => {
  let huge: Session
  let hugeProject: ProjectId
  const TEXTS = {
    prose: "We should go with the longer way, because it is drier. ",
    code: "const userById = new Map(rows.map((row) => [row.id, { ...row }]))\n",
    CJK: "我们决定使用队列，因为它更简单。",
    JSON: `${JSON.stringify({ a: [1, 2, { b: "c\n" }], path: "/x/y/z.ts" })}, `,
    base64: "k9Qx+/Zr7dPqWm2LbTfYc3HsVnJ0uE5oRgA8iX1tSv6yKwCzMjBhNeD4GlFpUaI=",
    emoji: "👩‍👩‍👧‍👦🚀",
  }
  beforeAll(async () => {
    hugeProject = (await store.projects.ensure("file:///w/huge", START)).id
    for (let day = 0; day < 8; day++)
      huge = await keepConversation(
        store,
        { projectId: hugeProject, startMs: START + day * DAY, title: `${TEXTS.CJK}${day}`.repeat(9) },
        Object.values(TEXTS).flatMap((text, index): Spoken[] => [
          ["prompt", `${index} ${text.repeat(index === day % 6 ? 20_000 : 200)}`],
          ["reply", `TODO: ${text.repeat(300)}`],
          edit(`/w/huge/${text.slice(0, 60)}${day}.ts`, `e${index}`),
        ]),
      )
    const outline = await store.turns.outline(huge.id)
    answers = outline.map(({ seq }) => ({ exchange: seq, sessionId: huge.id as SessionId, score: 1 }))
  })

  test.each([1, 12, 50, 100, 500, 2000, 8000, 100_000])("%i", async (maxTokens) => {
    for (const more of [{}, { query: "way" }, { taskState: TEXTS.code.repeat(500) }]) {
      const { brief, tokensUsed } = await make({ projectId: hugeProject, maxTokens, ...more })
      expect(countTokens(brief)).toBe(tokensUsed)
      expect(tokensUsed).toBeLessThanOrEqual(maxTokens * 0.9)
      if (maxTokens >= 50) expect(brief).not.toBe("")
      // A budget is there to be used.
      if (maxTokens >= 500 && maxTokens <= 8000) expect(tokensUsed).toBeGreaterThan(maxTokens * 0.6)
    }
  })

  test.each([500, 2000, 8000])("with every section in %i tokens", async (maxTokens) => {
    const { sections } = await make({ projectId: hugeProject, maxTokens, taskState: "step 3 of 5", query: "way" })
    expect(sections.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["goal", "decisions", "files", "openEnds", "taskState", "lastExchange"]),
    )
  })

  test("and spends most of a small budget on the goal", async () => {
    const { brief } = await make({ maxTokens: 50 })
    expect(brief).toMatch(
      /^# Where "Retry queue" stood\n\n## Goal\nMake the retry queue survive a restart of the machine\.\n/,
    )
  })

  test("and notes how much was cut", async () => {
    const { brief } = await make({ projectId: hugeProject })
    expect(brief).toMatch(/…\[\d{3,} more characters\]/)
  })

  test("and is the same every time", async () => {
    const request = { projectId: hugeProject, maxTokens: 8000, query: "way" }
    expect(await make(request)).toEqual(await make(request))
  })
})

describe("a pointer", () => {
  test("says what to resume and how, in three lines", async () => {
    const { text, tokensUsed } = (await briefs.pointer({ projectId, maxTokens: 200 }))!
    expect(text.split("\n")).toEqual([
      'The last session of this project was "Retry queue" (Claude Code, 2026-08-01 10:00 UTC, 4 prompts).',
      `Call resume_session_context with session_id ${main.id.slice(0, 8)} to continue from there.`,
      "Its last prompt: Now add a limit of 湖 to it.",
    ])
    expect(tokensUsed).toBe(countTokens(text))
  })

  test("drops lines rather than exceed its budget", async () => {
    expect((await briefs.pointer({ projectId, maxTokens: 60 }))!.text.split("\n").length).toBeLessThan(3)
    expect(await briefs.pointer({ projectId, maxTokens: 5 })).toBeUndefined()
  })
})

test("boilerplate around a summary is no goal, decision or prompt, even in older turns", async () => {
  const WRITTEN = `This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.

The parser is rewritten; its tests are still red.
<system-reminder>
Always use the Task tool instead of searching.
</system-reminder>
Please continue the conversation from where we left it off without asking the user any further questions. Continue with the last task that you were asked to work on.`
  for (const kind of ["summary", "prompt"] as const) {
    const session = await keepConversation(store, { projectId: null, title: "Parser", startMs: START }, [
      [kind, WRITTEN],
      ["prompt", "Rewrite the parser by hand."],
      ["reply", "Going on."],
    ])
    const made = await briefs.make({ session, maxTokens: 2_000 })
    expect(made!.brief).not.toMatch(/further questions|being continued|system-reminder|Task tool|last task/)
    expect(made!.brief).toContain("## Goal\nRewrite the parser by hand.")
    expect(made!.brief).toContain("The parser is rewritten; its tests are still red.")
    const pointer = await briefs.pointer({ session, maxTokens: 500 })
    expect(pointer!.text).not.toContain("being continued")
  }
})
