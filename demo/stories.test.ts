import { expect, test } from "vitest"
import { DAY_MS } from "../src/lib/time.ts"
import { allStories, answerOf } from "./stories.ts"
import { readStories } from "./story.ts"

const NOW_MS = Date.UTC(2026, 5, 17, 0, 5)
const stories = allStories(NOW_MS)

test("five agents have worked in four projects for two weeks, and nothing lies in the future", () => {
  expect(new Set(stories.map(({ agent }) => agent))).toEqual(
    new Set(["claude-code", "codex", "gemini-cli", "opencode", "aider"]),
  )
  expect(new Set(stories.map(({ project }) => project)).size).toBe(4)
  expect(stories.length).toBeGreaterThanOrEqual(40)
  const times = stories.flatMap(({ steps }) => steps.map(({ atMs }) => atMs))
  expect(Math.max(...times)).toBeLessThanOrEqual(NOW_MS)
  expect(Math.min(...times)).toBeGreaterThan(NOW_MS - 15 * DAY_MS)
  expect(Math.min(...times)).toBeLessThan(NOW_MS - 12 * DAY_MS)
})

test("every story that leads to another names one that there is, of the same agent and project", () => {
  const named = stories.flatMap((story) => {
    const other = story.fork?.of ?? story.clear ?? story.parent
    return other === undefined ? [] : [{ story, other: stories.find(({ name }) => name === other) }]
  })
  expect(named.length).toBeGreaterThanOrEqual(4)
  for (const { story, other } of named)
    expect({ agent: other?.agent, project: other?.project }, story.name).toEqual({
      agent: story.agent,
      project: story.project,
    })
  expect(new Set(stories.map(({ name }) => name)).size).toBe(stories.length)
})

test("a call is followed by what it answered, and a story begins with a prompt", () => {
  for (const { name, steps, agent } of stories) {
    expect(steps[0]?.kind, name).toBe("prompt")
    const unanswered = steps.filter(
      ({ kind }, at) => kind === "call" && !/result|error/.test(steps[at + 1]?.kind ?? ""),
    )
    expect(unanswered, `${name} of ${agent}`).toEqual([])
  }
})

test("marks tell what is said; equal ones in a row are one text, a blank line parts them", () => {
  const [story] = readStories(
    "## a | codex | shop | 90m | Title | clear=b\n> one\n> two\n\n> three\n$ read x.ts\n! gone\n",
    NOW_MS,
  )
  expect(story).toMatchObject({ name: "a", agent: "codex", title: "Title", clear: "b", startMs: NOW_MS - 90 * 60_000 })
  expect(story?.steps.map(({ kind, text, tool }) => [kind, text, tool])).toEqual([
    ["prompt", "one\ntwo", undefined],
    ["prompt", "three", undefined],
    ["call", "x.ts", "read"],
    ["error", "gone", undefined],
  ])
  expect(() => readStories("## a | codex | shop | soon | Title\n> one\n", NOW_MS)).toThrow('not a time: "soon"')
  expect(() => readStories("## a | codex | shop | 1m | Title\none\n", NOW_MS)).toThrow('not a line of a story: "one"')
})

test("a mock agent gives the answers of its team, asks before running a command, and says if it has no answer", () => {
  expect(answerOf("payments", "Where does a refund of a gift card go?").text).toContain("in proportion")
  expect(answerOf("infra", "Please deploy the alarm")).toMatchObject({ command: "npm run deploy -- alerts" })
  expect(answerOf("warehouse", "Where does a refund of a gift card go?").text).toContain("mock agent")
})
