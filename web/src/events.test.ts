import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { helloOf, openTab, type Tab } from "../../test/fixtures/tab.ts"

let tab: Tab
let events: typeof import("./events.ts")
/** Every line to the journal that was opened, by its address. */
let lines: { path: string; tell(text: string): Promise<void>; cut(): void }[]
const told: unknown[] = []
beforeEach(async () => {
  vi.resetModules()
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  lines = []
  told.length = 0
  vi.stubGlobal("fetch", async (path: string, { signal, body: said }: { signal: AbortSignal; body?: string }) => {
    const hello = await helloOf(path, said)
    if (hello) return hello
    let line!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        line = controller
        signal.addEventListener("abort", () => controller.error(signal.reason))
      },
    })
    lines.push({
      path,
      async tell(text) {
        line.enqueue(new TextEncoder().encode(text))
        await moment()
      },
      cut: () => line.close(),
    })
    return new Response(body)
  })
  tab = openTab("/")
  events = await import("./events.ts")
  events.onEvents((all) => told.push(...all.map(({ seq, kind }) => `${seq} ${kind}`)))
  void events.followJournal()
  await opened(1)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Long enough for what is under way, and for no timer. */
const moment = () => vi.advanceTimersByTimeAsync(0).then(() => new Promise((resolve) => setImmediate(resolve)))
/** Whoever answers has to prove first who it is, in a thread of its own. */
async function opened(count: number): Promise<void> {
  for (let left = 5_000; lines.length < count && left > 0; left--) await moment()
  await moment()
  expect(lines).toHaveLength(count)
}
const entry = (seq: number, kind: string) => `id: ${seq}\ndata: ${JSON.stringify({ seq, kind })}\n\n`

describe("the journal", () => {
  test("is told entry by entry, however it is cut into pieces", async () => {
    const text = `id: 4\ndata:\n\n:\n\n${entry(5, "a")}${entry(6, "b")}`
    for (const piece of [text.slice(0, 25), text.slice(25, 40), text.slice(40)]) await lines[0]!.tell(piece)
    expect(told).toEqual(["5 a", "6 b"])
    expect(events.isConnected.value).toBe(true)
  })

  test("is taken up where it was when the line is cut", async () => {
    await lines[0]!.tell(entry(7, "a"))
    lines[0]!.cut()
    await moment()
    expect(events.isConnected.value).toBe(false)
    await vi.advanceTimersByTimeAsync(5_000)
    await opened(2)
    expect(lines.map(({ path }) => path)).toEqual(["/events", "/events?after=7"])
    expect(events.opened.value).toBe(2)
  })

  test("is let go while nobody looks, and taken up when somebody does; a glance aside changes nothing", async () => {
    await lines[0]!.tell(entry(7, "a"))
    tab.hide(true)
    await vi.advanceTimersByTimeAsync(10_000)
    tab.hide(false)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(events.isConnected.value).toBe(true)
    tab.hide(true)
    await vi.advanceTimersByTimeAsync(60_000)
    await moment()
    expect(events.isConnected.value).toBe(false)
    expect(lines).toHaveLength(1)
    tab.hide(false)
    await opened(2)
    expect(lines.map(({ path }) => path)).toEqual(["/events", "/events?after=7"])
    expect(events.isConnected.value).toBe(true)
  })
})
