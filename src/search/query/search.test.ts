import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeTestSearch, NOW_MS, type TestSearch } from "../../../test/fixtures/recall.ts"
import { proves } from "../../../test/promises.ts"
import type { SessionId } from "../../domain/ids.ts"
import { DAY_MS } from "../../lib/time.ts"
import type { SearchHit } from "./request.ts"

let recall: TestSearch
const sessions: Record<string, SessionId> = {}

beforeAll(async () => {
  recall = await makeTestSearch()
  sessions.queue = await recall.session("queue", { project: "app", gitBranch: "main" })
  await recall.say(
    sessions.queue,
    ["prompt", "The retry queue drops messages when Redis restarts. Why?"],
    [
      "reply",
      "The consumer acknowledges before it handles. I moved the ack behind handleMessage in src/queue/consumer.ts.",
    ],
    ["tool_call", '{"command":"npm test -- consumer"}', { toolName: "Bash" }],
    ["tool_result", "PASS consumer.test.ts\nzebra zebra zebra", { toolName: "Bash" }],
    ["prompt", "Now also wait in a retry list before the queue"],
    ["reply", "Done: messages wait in a list with a backoff of thirty seconds."],
  )
  sessions.users = await recall.session("users", { project: "other", platform: "codex" })
  await recall.say(
    sessions.users,
    ["prompt", "Where is getUserById defined?"],
    ["reply", 'It is in src/user.ts; the word "zebra" occurs in its comment.'],
    ["prompt", "A queue of people, please"],
    ["reply", "There is a class PeopleQueue now."],
  )
  sessions.old = await recall.session("old", { project: "other" })
  await recall.say(
    sessions.old,
    ["prompt", "Which database do we use?", { atMs: NOW_MS - 400 * DAY_MS }],
    ["reply", "We decided for PostgreSQL because of SKIP LOCKED.", { atMs: NOW_MS - 400 * DAY_MS + 1 }],
  )
  sessions.chinese = await recall.session("chinese")
  await recall.say(sessions.chinese, ["prompt", "数据库连接池在重启后耗尽"], ["reply", "连接没有归还。"])
  sessions.thinking = await recall.session("thinking", { project: "app", platform: "throughline" })
  await recall.think(sessions.thinking, 1, "Perhaps a giraffe crossing")
  await recall.settle()
})
afterAll(() => recall.close())

const texts = (hits: SearchHit[]) => hits.map(({ session, kind }) => `${session.title} ${kind}`)
const found = async (query: string, request = {}) => texts(await recall.search(query, request))

describe(proves("search.by-words"), () => {
  test("words are found in any order, case and form, in prompts and replies", async () => {
    expect((await found("QUEUE redis retries"))[0]).toBe("queue prompt")
    expect((await found("acknowledging handled messages"))[0]).toBe("queue reply")
  })

  test("a name, its parts and its file meet", async () => {
    for (const query of ["getUserById", "user by id", "get user", "src/user.ts", "user.ts"])
      expect((await found(query))[0], query).toMatch(/^users/)
    expect((await found("people queue"))[0]).toMatch(/^users/)
  })

  test("conversation weighs more than tool output", async () => {
    expect((await found("zebra")).map((hit) => hit.split(" ")[0])).toEqual(["users", "queue"])
  })

  test("an old answer is found like a new one", async () => {
    expect((await found("which database decided"))[0]).toMatch(/^old/)
  })

  test("text in an unspaced script is found by any part of it", async () => {
    expect(await found("连接池")).toEqual(["chinese prompt"])
    expect(await found("重启")).toEqual(["chinese prompt"])
  })

  test("thoughts are found beside turns", async () => {
    const [hit] = await recall.search("giraffe")
    expect(hit).toMatchObject({ kind: "thought", thought: { number: 1, branchId: null }, user: "", ai: "" })
  })
})

describe("the query", () => {
  test("quotes keep words together", async () => {
    expect(await found('"retry list"')).toEqual(["queue prompt"])
    expect(await found('"list retry"')).toEqual([])
    expect(await found('"retry queue" redis')).toEqual(["queue prompt"])
  })

  test("a star matches any ending", async () => {
    expect((await found("giraf*"))[0]).toBe("thinking thought")
    expect(await found("giraf")).toEqual([])
  })

  test("a minus excludes the whole exchange, by a word or a phrase", async () => {
    expect(await found("queue -redis -people")).toEqual(["queue prompt"])
    expect(await found("queue -consumer -backoff -people")).toEqual([])
    expect((await found('queue -"retry list"')).length).toBe(2)
  })

  test.each([
    '"',
    '"unclosed zebra',
    "zebra*",
    "zebra OR giraffe",
    "NEAR(zebra)",
    "text:zebra",
    "'; --",
    "((((",
    "\\",
    "*",
    "-",
  ])("%s is no error", async (query) => {
    await expect(recall.search(query)).resolves.toBeInstanceOf(Array)
  })

  test("a query without words finds nothing and says so", async () => {
    const { hits, notes } = await recall.core.search({ query: ' ?! " ', limit: 10 })
    expect(hits).toEqual([])
    expect(notes.join()).toContain("no word")
  })

  test("of stop words only is searched all the same", async () => {
    expect((await found("where is")).length).toBeGreaterThan(0)
  })

  test("of 100 kB is cut, and the answer says so, in less than a second", async () => {
    const started = performance.now()
    const { notes } = await recall.core.search({ query: "queue redis ".repeat(9_000), limit: 10 })
    expect(performance.now() - started).toBeLessThan(20_000)
    expect(notes.join()).toMatch(/characters/)
    const { notes: cut } = await recall.core.search({
      query: Array.from({ length: 20_000 }, (_, at) => `w${at}`).join(" "),
      limit: 10,
    })
    expect(cut.join()).toMatch(/cut|first/)
  })
})

describe("filters", () => {
  test("a session, a platform, a branch, a project", async () => {
    expect(await found("queue", { sessionId: sessions.users })).toEqual(["users prompt"])
    expect(await found("queue", { platform: "codex" })).toEqual(["users prompt"])
    expect(new Set(await found("queue", { gitBranch: "main" }))).toEqual(new Set(["queue prompt"]))
    const other = (await recall.store.projects.byRoot("file:///other"))!
    expect(await found("queue", { projectId: other.id })).toEqual(["users prompt"])
    expect(await found("queue", { projectId: other.id, platform: "claude-code" })).toEqual([])
  })

  test("the role", async () => {
    expect(new Set(await found("zebra", { kinds: ["tool_result"] }))).toEqual(new Set(["queue tool_result"]))
    expect(await found("zebra", { kinds: ["prompt"] })).toEqual([])
  })

  test("when", async () => {
    expect(await found("database", { sinceMs: NOW_MS - 30 * DAY_MS })).toEqual([])
    expect(await found("database", { untilMs: NOW_MS - 30 * DAY_MS })).toEqual(["old prompt"])
  })

  test("at most the limit", async () => {
    expect(await found("queue", { limit: 1 })).toHaveLength(1)
  })

  test("one project first, then the others", async () => {
    const [app, other] = await Promise.all(
      ["app", "other"].map((name) => recall.store.projects.byRoot(`file:///${name}`)),
    )
    expect((await found("queue", { firstProjectId: other!.id }))[0]).toMatch(/^users/)
    expect((await found("queue", { firstProjectId: app!.id }))[0]).toMatch(/^queue/)
    expect(await found("queue", { firstProjectId: other!.id })).toHaveLength(3)
    expect((await found("getUserById", { firstProjectId: app!.id }))[0]).toMatch(/^users/)
  })
})

describe("ranking", () => {
  test("a time named in the query boosts hits from then", async () => {
    const year = new Date(NOW_MS - 400 * DAY_MS).getUTCFullYear()
    expect((await found(`we use queue in ${year}`))[0]).toMatch(/^old/)
  })

  test("newer hits are boosted on request only", async () => {
    const one = await recall.session("one")
    await recall.say(one, ["prompt", "walrus walrus walrus bread", { atMs: NOW_MS - 300 * DAY_MS }])
    const two = await recall.session("two")
    await recall.say(two, [
      "prompt",
      "the walrus and also some other words that make it longer",
      { atMs: NOW_MS - 1000 },
    ])
    await recall.settle()
    expect((await found("walrus"))[0]).toBe("one prompt")
    expect((await found("walrus", { recent: true }))[0]).toBe("two prompt")
  })

  test("single turns are found, followed by their neighbours", async () => {
    const hits = await found("which database do we use", { unit: "turn" })
    expect(hits.slice(0, 2).sort()).toEqual(["old prompt", "old reply"])
  })
})

test("a turn that a fork copied is found once", async () => {
  const copied = ["prompt", "the albatross question", { atMs: NOW_MS - 5 * DAY_MS }] as const
  for (const name of ["original", "fork"]) await recall.say(await recall.session(name), copied)
  await recall.settle()
  expect(await found("albatross")).toHaveLength(1)
  expect(await found("albatross", { unit: "turn" })).toHaveLength(1)
})

describe("a hit", () => {
  test("shows the highlighted match and its exchange", async () => {
    const [hit] = await recall.search("thirty backoff")
    expect(hit).toMatchObject({ kind: "reply", user: "Now also wait in a retry list before the queue" })
    const { text, marks } = hit!.snippet
    expect(marks.map(([start, end]) => text.slice(start, end))).toEqual(["backoff", "thirty"])
    expect(hit!.exchange).toBeLessThan(hit!.seq)
  })
})

test("an exchange whose prompt and reply share the words comes before a turn that repeats one of them", async () => {
  const own = await makeTestSearch()
  try {
    const others = await own.session("others")
    for (let at = 0; at < 4; at++)
      await own.say(others, ["prompt", `Keeper number ${at} of the zoo`], ["reply", `Bear ${at} sleeps.`])
    const repeated = await own.session("repeated")
    await own.say(repeated, ["prompt", "lantern, lantern at the sea"], ["reply", "Yes."])
    const spread = await own.session("spread")
    await own.say(spread, ["prompt", "Who lights the lantern tonight?"], ["reply", "The keeper of the tower does."])
    await own.settle()
    const titles = (await own.search("lantern keeper")).map(({ session }) => session.title)
    expect(titles.slice(0, 2)).toEqual(["spread", "repeated"])
  } finally {
    await own.close()
  }
})
