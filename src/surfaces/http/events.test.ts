import { EventEmitter } from "node:events"
import { Hono } from "hono"
import { describe, expect, test } from "vitest"
import { Failure } from "../../domain/failure.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import { eventStream } from "./events.ts"

/** A journal in memory, and a page that follows it. */
function followed() {
  const entries: JournalEntry[] = []
  const wakes = new EventEmitter()
  const ending = new AbortController()
  const app = new Hono()
  app.onError((error, c) => c.json({ error: Failure.from(error).toJSON() }, Failure.from(error).kind.http as 400))
  app.get(
    "/events",
    eventStream(
      {
        last: async () => entries.length,
        after: async (seq, limit) => entries.slice(seq, seq + limit),
        onWake(listener) {
          wakes.on("wake", listener)
          return () => wakes.off("wake", listener)
        },
      },
      ending.signal,
    ),
  )
  const write = (...kinds: string[]) => {
    for (const kind of kinds)
      entries.push({ seq: entries.length + 1, kind, sessionId: null, projectId: null, atMs: 0, data: {} })
    wakes.emit("wake")
  }
  const open = async (path = "/events", headers: Record<string, string> = {}) => {
    const response = await app.request(path, { headers })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    return {
      response,
      close: () => reader.cancel(),
      /** The kinds that came until there were so many. */
      async kinds(count: number) {
        const seen = () => [...text.matchAll(/"kind":"([^"]+)"/g)].map((match) => match[1])
        while (seen().length < count) {
          const { done, value } = await reader.read()
          if (done) break
          text += value
        }
        return seen()
      },
      async rest() {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return text
          text += value
        }
      },
    }
  }
  return { write, open, ending, wakes }
}

describe("the stream of events", () => {
  test("tells what happens from now on, and nothing of what was before", async () => {
    const { write, open } = followed()
    write("old")
    const page = await open()
    expect(page.response.headers.get("content-type")).toContain("text/event-stream")
    setTimeout(() => write("a", "b"), 5)
    expect(await page.kinds(2)).toEqual(["a", "b"])
    await page.close()
  })

  test.each([
    ["by the address", "/events?after=1", {}],
    ["by the header that browsers send", "/events", { "last-event-id": "1" }],
  ])("goes on where it was left, %s", async (_, path, headers) => {
    const { write, open } = followed()
    write("seen", "missed")
    const page = await open(path, headers as Record<string, string>)
    expect(await page.kinds(1)).toEqual(["missed"])
    write("new")
    expect(await page.kinds(2)).toEqual(["missed", "new"])
    await page.close()
  })

  test("more than are read at once come all, in order", async () => {
    const { write, open } = followed()
    write("first")
    const page = await open("/events?after=1")
    const kinds = Array.from({ length: 1_203 }, (_, index) => `k${index}`)
    write(...kinds)
    expect(await page.kinds(kinds.length)).toEqual(kinds)
    await page.close()
  })

  test("who comes from another journal, or was away for too long, begins anew", async () => {
    const { write, open } = followed()
    write("a")
    const page = await open("/events?after=999")
    write("b")
    expect(await page.kinds(1)).toEqual(["b"])
    await page.close()
  })

  test("a number that is none is refused by name", async () => {
    const { open } = followed()
    const { response } = await open("/events?after=soon")
    expect(response.status).toBe(400)
  })

  test("ends with the daemon, and leaves no listener behind", async () => {
    const { open, ending, wakes } = followed()
    const page = await open()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(wakes.listenerCount("wake")).toBe(1)
    ending.abort()
    await page.rest()
    expect(wakes.listenerCount("wake")).toBe(0)
  })
})
