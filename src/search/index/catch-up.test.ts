import { expect, test } from "vitest"
import { makeCatchUp } from "./catch-up.ts"

test("an answer waits until the daemon has caught up", async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const catchUp = makeCatchUp(promise, 60_000)
  let isAnswered = false
  const answer = catchUp.wait().then(() => {
    isAnswered = true
  })
  await new Promise((later) => setImmediate(later))
  expect([isAnswered, catchUp.isDone()]).toEqual([false, false])
  resolve()
  await answer
  expect(catchUp.isDone()).toBe(true)
})

test("a long import delays nobody beyond the limit, and is still known to run", async () => {
  const catchUp = makeCatchUp(new Promise(() => {}), 10)
  await catchUp.wait()
  expect(catchUp.isDone()).toBe(false)
})

test("an import that failed delays nobody", async () => {
  const catchUp = makeCatchUp(Promise.reject(new Error("no disk")), 60_000)
  await catchUp.wait()
  expect(catchUp.isDone()).toBe(true)
})
