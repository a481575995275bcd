import { setTimeout as sleep } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { makeWaiters, type WaitAnswer } from "./waiters.ts"

const who = { platform: "claude-code", nativeId: "s1", pid: 7 }
const make = (starts: Record<number, string> = { 7: "a" }) => {
  const waiters = makeWaiters({ processStart: (pid) => starts[pid] })
  return { waiters, starts }
}
const never = () => new AbortController().signal
const isOpen = async (answer: Promise<WaitAnswer>) =>
  (await Promise.race([answer.then(() => "answered"), sleep(20, "open")])) === "open"

test("one waits for each session: the older one is sent away", async () => {
  const { waiters } = make()
  const [first, second] = [waiters.wait(who, never()), waiters.wait(who, never())]
  expect(await first).toEqual({ kind: "over" })
  expect(await isOpen(second)).toBe(true)
  expect(waiters.isWaiting({ platform: "claude-code", nativeId: "s1" })).toBe(true)
  expect(waiters.isWaiting({ platform: "codex", nativeId: "s1" })).toBe(false)
  waiters.close()
})

test("it gets the text, and nobody waits after that", async () => {
  const { waiters } = make()
  const answer = waiters.wait(who, never())
  expect(waiters.wake(who, "mail")).toBe(true)
  expect(await answer).toEqual({ kind: "wake", text: "mail" })
  expect(waiters.wake(who, "more")).toBe(false)
})

test("one whose agent is gone is sent away, at once or when it is noticed", async () => {
  vi.useFakeTimers()
  try {
    const { waiters, starts } = make()
    expect(await waiters.wait({ ...who, pid: 8 }, never())).toEqual({ kind: "over" })
    const answer = waiters.wait(who, never())
    starts[7] = "another process"
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await answer).toEqual({ kind: "over" })
    expect(waiters.isWaiting(who)).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test("one that has hung up does not count as waiting, and does not end the one that came after it", async () => {
  const { waiters } = make()
  const gone = new AbortController()
  const first = waiters.wait(who, gone.signal)
  gone.abort()
  await first
  expect(waiters.isWaiting(who)).toBe(false)
  const second = waiters.wait(who, never())
  expect(await isOpen(second)).toBe(true)
  waiters.close()
  expect(await second).toEqual({ kind: "again" })
})

test("it is asked to come again after a while, and by a daemon that ends", async () => {
  vi.useFakeTimers()
  try {
    const { waiters } = make()
    const answer = waiters.wait(who, never())
    await vi.advanceTimersByTimeAsync(50_000)
    expect(await answer).toEqual({ kind: "again" })
    waiters.close()
    expect(await waiters.wait(who, never())).toEqual({ kind: "again" })
  } finally {
    vi.useRealTimers()
  }
})
