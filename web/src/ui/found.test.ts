import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { helloOf, openTab } from "../../../test/fixtures/tab.ts"

interface Asked {
  query: string
  limit: number
  [filter: string]: unknown
}

let found: typeof import("./found.ts")
let go: (to: string) => void
let following: ReturnType<typeof found.followAddress>
/** Every question, and its answer when it is to come. */
let asked: { input: Asked; answer(hits: number): Promise<void>; fail(): Promise<void> }[]
beforeEach(async () => {
  vi.resetModules()
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  asked = []
  vi.stubGlobal("fetch", (path: string, { body }: { body: string }) => {
    if (path.startsWith("/hello")) return helloOf(path, body)
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const input = JSON.parse(body) as Asked
    const settled = async () => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
    asked.push({
      input,
      async answer(count) {
        const hits = Array.from({ length: count }, (__, at) => ({ ...HIT, exchangeId: String(at) }))
        resolve(new Response(JSON.stringify({ query: input.query, hits, complete: true, notes: [] })))
        await vi.waitFor(() => expect(found.found.peek()?.hits).toHaveLength(count))
        await settled()
      },
      async fail() {
        reject(new TypeError("no answer"))
        await settled()
      },
    })
    return promise
  })
  openTab("/search?q=a")
  const session = await import("../session.ts")
  await session.authorization()
  session.lineOpened()
  const router = await import("../router.ts")
  go = (to) => router.go(to, { replace: true })
  found = await import("./found.ts")
  following = found.followAddress()
})
afterEach(() => {
  following.stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const HIT = {
  sessionId: "s",
  platform: "codex",
  title: "t",
  exchangeId: "1",
  kind: "reply",
  at: "2026-01-01T00:00:00Z",
  score: 1,
  snippet: "",
  marks: [],
  user: "",
  ai: "",
}
const queries = () => asked.map(({ input }) => `${input.query} ${input.limit}`)

describe("a search that follows the address", () => {
  test("asks at once, and for as many as a screen shows", () => {
    expect(asked.map(({ input }) => input)).toEqual([{ query: "a", limit: 8, project: "all" }])
  })

  test("has one question under way, and of what is typed meanwhile asks only the last", async () => {
    for (const q of ["ab", "abc", "abcd"]) go(`/search?q=${q}`)
    expect(queries()).toEqual(["a 8"])
    await asked[0]!.answer(8)
    expect(queries()).toEqual(["a 8", "abcd 8"])
    expect(found.found.value).toMatchObject({ asked: "q=a" })
    await asked[1]!.answer(3)
    expect(found.found.value).toMatchObject({ asked: "q=abcd" })
  })

  test("asks for those below when nobody types any more, and for more when it is told", async () => {
    await asked[0]!.answer(8)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queries()).toEqual(["a 8", "a 25"])
    await asked[1]!.answer(25)
    expect(found.hasMore(found.found.value!)).toBe(true)
    following.more()
    expect(queries().at(-1)).toBe("a 50")
    await asked[2]!.answer(31)
    expect(found.hasMore(found.found.value!)).toBe(false)
  })

  test("asks no further where that was all, and not for what was typed over", async () => {
    await asked[0]!.answer(7)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queries()).toEqual(["a 8"])
    go("/search?q=ab")
    await asked[1]!.answer(8)
    go("/search?q=abc")
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queries()).toEqual(["a 8", "ab 8", "abc 8"])
  })

  test("passes on every filter", () => {
    following.stop()
    go("/search?q=a&project=file%3A%2F%2F%2Fw&branch=main&agent=codex&role=tool&days=7")
    following = found.followAddress()
    const { since, ...input } = asked.at(-1)!.input
    expect(input).toEqual({
      query: "a",
      limit: 8,
      project: "file:///w",
      branch: "main",
      platform: "codex",
      role: "tool",
    })
    expect(Date.now() - Date.parse(since as string)).toBeCloseTo(7 * 86_400_000, -5)
  })

  test("shows nothing when nothing is asked, and says when nobody answers", async () => {
    await asked[0]!.answer(8)
    go("/search")
    expect(found.found.value).toBeUndefined()
    go("/search?q=x")
    await asked[1]!.fail()
    expect(found.trouble.value).toContain("isn't running")
    go("/search?q=xy")
    // After a request that was lost, whoever answers proves first that it is the daemon.
    await vi.waitFor(() => expect(queries().at(-1)).toBe("xy 8"))
  })

  test("who comes back sees what was there, and as much of it", async () => {
    await asked[0]!.answer(8)
    await vi.advanceTimersByTimeAsync(1_000)
    await asked[1]!.answer(25)
    following.stop()
    following = found.followAddress()
    expect(found.found.value?.hits).toHaveLength(25)
    expect(queries().at(-1)).toBe("a 25")
  })
})
