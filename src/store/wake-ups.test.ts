import { setTimeout as sleep } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { makeWakeUps } from "./open.ts"

test("Whoever rings goes on before anybody is told", async () => {
  const wakeUps = makeWakeUps()
  const order: string[] = []
  wakeUps.on(() => order.push("told"))
  wakeUps.ring()
  await Promise.resolve()
  order.push("answered")
  await vi.waitFor(() => expect(order).toEqual(["answered", "told"]))
})

test("A burst is told when it begins and when it is over, and nothing of it is lost", async () => {
  const wakeUps = makeWakeUps()
  const written = { count: 0 }
  const seen: number[] = []
  wakeUps.on(() => seen.push(written.count))
  for (; written.count < 50; written.count++) {
    wakeUps.ring()
    await new Promise(setImmediate)
  }
  wakeUps.ring()
  await vi.waitFor(() => expect(seen.at(-1)).toBe(50))
  expect(seen.length).toBeLessThan(50)
})

test("Nobody is told after the end, or after saying that it is enough", async () => {
  const wakeUps = makeWakeUps()
  const [one, other] = [vi.fn(), vi.fn()]
  const forget = wakeUps.on(one)
  wakeUps.on(other)
  forget()
  wakeUps.ring()
  await vi.waitFor(() => expect(other).toHaveBeenCalledOnce())
  wakeUps.ring()
  wakeUps.close()
  await sleep(30)
  expect(other).toHaveBeenCalledOnce()
  expect(one).not.toHaveBeenCalled()
})
