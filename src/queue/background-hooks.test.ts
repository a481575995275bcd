import { setTimeout as sleep } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { makeBackgroundHooks, type WaitAnswer } from "./background-hooks.ts"

const who = { platform: "claude-code", nativeId: "s1", pid: 7 }
const make = (starts: Record<number, string> = { 7: "a" }) => {
  const hooks = makeBackgroundHooks({ processStart: (pid) => starts[pid] })
  return { hooks, starts }
}
const never = () => new AbortController().signal
const isOpen = async (answer: Promise<WaitAnswer>) =>
  (await Promise.race([answer.then(() => "answered"), sleep(20, "open")])) === "open"

test("one waits for each session: the older one is sent away", async () => {
  const { hooks } = make()
  const [first, second] = [hooks.wait(who, never()), hooks.wait(who, never())]
  expect(await first).toEqual({ kind: "over" })
  expect(await isOpen(second)).toBe(true)
  expect(hooks.isWaiting({ platform: "claude-code", nativeId: "s1" })).toBe(true)
  expect(hooks.isWaiting({ platform: "codex", nativeId: "s1" })).toBe(false)
  hooks.close()
})

test("it gets the text, and nobody waits after that", async () => {
  const { hooks } = make()
  const answer = hooks.wait(who, never())
  expect(hooks.wake(who, "mail")).toBe(true)
  expect(await answer).toEqual({ kind: "wake", text: "mail" })
  expect(hooks.wake(who, "more")).toBe(false)
})

test("one whose agent is gone is sent away, at once or when it is noticed", async () => {
  vi.useFakeTimers()
  try {
    const { hooks, starts } = make()
    expect(await hooks.wait({ ...who, pid: 8 }, never())).toEqual({ kind: "over" })
    const answer = hooks.wait(who, never())
    starts[7] = "another process"
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await answer).toEqual({ kind: "over" })
    expect(hooks.isWaiting(who)).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test("one that has hung up does not count as waiting, and does not end the one that came after it", async () => {
  const { hooks } = make()
  const gone = new AbortController()
  const first = hooks.wait(who, gone.signal)
  gone.abort()
  await first
  expect(hooks.isWaiting(who)).toBe(false)
  const second = hooks.wait(who, never())
  expect(await isOpen(second)).toBe(true)
  hooks.close()
  expect(await second).toEqual({ kind: "again" })
})

test("it is asked to come again after a while, and by a daemon that ends", async () => {
  vi.useFakeTimers()
  try {
    const { hooks } = make()
    const answer = hooks.wait(who, never())
    await vi.advanceTimersByTimeAsync(50_000)
    expect(await answer).toEqual({ kind: "again" })
    hooks.close()
    expect(await hooks.wait(who, never())).toEqual({ kind: "again" })
  } finally {
    vi.useRealTimers()
  }
})
