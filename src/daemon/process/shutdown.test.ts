import { pino } from "pino"
import { afterEach, expect, test, vi } from "vitest"
import { shutdown } from "./shutdown.ts"

afterEach(() => {
  vi.useRealTimers()
})

function memoryLog() {
  const lines: { step?: string; err?: { message: string } }[] = []
  return { lines, log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }) }
}

test("every step runs, in order, although one throws, one rejects and one hangs", async () => {
  vi.useFakeTimers()
  const { lines, log } = memoryLog()
  const ran: string[] = []
  const step = (name: string, then: () => Promise<void> | void = () => {}) => ({
    name,
    run() {
      ran.push(name)
      return then()
    },
  })
  const done = shutdown(
    [
      step("throws", () => {
        throw new Error("thrown")
      }),
      step("rejects", () => Promise.reject(new Error("rejected"))),
      step("hangs", () => new Promise(() => {})),
      step("last"),
    ],
    log,
  )
  await vi.runAllTimersAsync()
  await done
  expect(ran).toEqual(["throws", "rejects", "hangs", "last"])
  expect(lines.map(({ step, err }) => [step, err?.message])).toEqual([
    ["throws", "thrown"],
    ["rejects", "rejected"],
    ["hangs", expect.stringContaining("not done within")],
  ])
})

test("a step is waited for before the next one begins", async () => {
  const ran: string[] = []
  await shutdown(
    [
      {
        name: "slow",
        async run() {
          await new Promise((resolve) => setTimeout(resolve, 20))
          ran.push("slow")
        },
      },
      { name: "next", run: () => void ran.push("next") },
    ],
    memoryLog().log,
  )
  expect(ran).toEqual(["slow", "next"])
})
