import { expect, test } from "vitest"
import { makeQueue, type SourceQueue } from "./queue.ts"
import type { FoundSource } from "./scan.ts"

const found = (path: string, mtimeMs: number, sizeBytes = 10) =>
  ({ path, look: { inode: "1", mtimeMs, sizeBytes } }) as FoundSource
const put = (queue: SourceQueue, path: string, mtimeMs: number, live = false, sizeBytes = 10) =>
  queue.put(`p\n${path}`, found(path, mtimeMs, sizeBytes), live)
const never = new AbortController().signal
const take = async (queue: SourceQueue, liveOnly = false) => (await queue.take(never, { liveOnly }))!

test("live sources come first, then the newest", async () => {
  const queue = makeQueue()
  for (const [path, time] of [
    ["old", 1],
    ["newest", 9],
    ["new", 5],
  ] as const)
    put(queue, path, time)
  put(queue, "live", 0, true)
  expect(queue.left()).toEqual({ sourcesLeft: 4, bytesLeft: 40 })
  const order = [await take(queue), await take(queue), await take(queue), await take(queue)]
  expect(order.map((taken) => taken.found.path)).toEqual(["live", "newest", "new", "old"])
  expect(queue.left()).toEqual({ sourcesLeft: 4, bytesLeft: 0 })
  for (const taken of order) taken.done()
  expect(queue.left()).toEqual({ sourcesLeft: 0, bytesLeft: 0 })
})

test("a source that changes while it is read is read again afterwards, not concurrently", async () => {
  const queue = makeQueue()
  put(queue, "a", 1)
  const first = await take(queue)
  put(queue, "a", 2, true)
  put(queue, "b", 1)
  const other = await take(queue)
  expect(other.found.path).toBe("b")
  other.done()
  let isEmpty = false
  const empty = queue.whenEmpty().then(() => {
    isEmpty = true
  })
  first.done()
  const again = await take(queue)
  expect(again.found.look.mtimeMs).toBe(2)
  expect(isEmpty).toBe(false)
  again.done()
  await empty
})

test("an old source that becomes live is read before the others, once", async () => {
  const queue = makeQueue()
  put(queue, "a", 9)
  put(queue, "b", 1)
  put(queue, "b", 2, true)
  put(queue, "b", 3)
  const taken = [await take(queue), await take(queue)]
  expect(taken.map((one) => one.found.path)).toEqual(["b", "a"])
  expect(taken[0]!.found.look.mtimeMs).toBe(3)
  for (const one of taken) one.done()
  await queue.whenEmpty()
})

test("big old sources wait for memory; live ones do not", async () => {
  const queue = makeQueue()
  for (let i = 0; i < 6; i++) put(queue, `big${i}`, 9 - i, false, 50_000_000)
  const reading = []
  for (let i = 0; i < 5; i++) reading.push(await take(queue))
  let sixth: string | undefined
  const waiting = take(queue).then((taken) => {
    sixth = taken.found.path
  })
  put(queue, "live", 0, true, 50_000_000)
  await waiting
  expect(sixth).toBe("live")
  const last = take(queue)
  for (const one of reading.slice(0, 2)) one.done()
  expect((await last).found.path).toBe("big5")
})

test("a reader of live sources skips old ones, and all stop when aborted", async () => {
  const queue = makeQueue()
  put(queue, "old", 1)
  const stopping = new AbortController()
  const liveOnly = queue.take(stopping.signal, { liveOnly: true })
  const idle = queue.take(stopping.signal).then((taken) => taken?.found.path)
  expect(await idle).toBe("old")
  const another = queue.take(stopping.signal)
  stopping.abort()
  expect([await liveOnly, await another]).toEqual([undefined, undefined])
})
