import { describe, expect, test } from "vitest"
import { makeBackoff } from "./backoff.ts"

const PAUSES = { soon: { firstMs: 50, mostMs: 1_000 }, later: { firstMs: 200, mostMs: 3_000 } }
const backoff = () => makeBackoff(PAUSES)

describe("a lane that is paused", () => {
  test("is left alone longer each time for the same cause, up to the most", () => {
    const lanes = backoff()
    let nowMs = 0
    const pauses = Array.from({ length: 7 }, () => {
      lanes.pause("a", "soon", nowMs)
      const untilMs = lanes.nextAtMs(nowMs)
      expect([lanes.paused(untilMs - 1), lanes.paused(untilMs)]).toEqual([["a"], []])
      const pauseMs = untilMs - nowMs
      nowMs = untilMs
      return pauseMs
    })
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1_000, 1_000])
  })

  test("begins anew with another cause, and once it was cleared", () => {
    const lanes = backoff()
    for (const _ of [1, 2, 3]) lanes.pause("a", "soon", 0)
    lanes.pause("a", "later", 0)
    expect([lanes.nextAtMs(0), lanes.causeOf("a")]).toEqual([200, "later"])
    lanes.pause("a", "later", 0)
    lanes.clear("a")
    expect([lanes.paused(0), lanes.causeOf("a")]).toEqual([[], undefined])
    lanes.pause("a", "later", 0)
    expect(lanes.nextAtMs(0)).toBe(200)
  })

  test("is tried at once when it is released, costs the first pause again, and keeps its cause", () => {
    const lanes = backoff()
    for (const lane of ["a", "a", "a", "b"]) lanes.pause(lane, "soon", 0)
    lanes.release(["a", "nobody's"])
    expect([lanes.paused(0), lanes.causeOf("a"), lanes.causeOf("nobody's")]).toEqual([["b"], "soon", undefined])
    lanes.pause("a", "soon", 0)
    expect(lanes.nextAtMs(0)).toBe(50)
    lanes.release()
    expect([lanes.paused(0), lanes.nextAtMs(0)]).toEqual([[], Number.POSITIVE_INFINITY])
  })
})

describe("a lane that rests", () => {
  test("is left alone for that long, and forgotten then", () => {
    const lanes = backoff()
    lanes.pauseFor("a", 70, 0)
    expect([lanes.paused(69), lanes.nextAtMs(69)]).toEqual([["a"], 70])
    expect([lanes.paused(70), lanes.nextAtMs(70)]).toEqual([[], Number.POSITIVE_INFINITY])
  })

  test("with a cause has had the first pause for it", () => {
    const lanes = backoff()
    lanes.pauseFor("a", 250, 0, "soon")
    expect([lanes.nextAtMs(0), lanes.causeOf("a")]).toEqual([250, "soon"])
    lanes.paused(250)
    lanes.pause("a", "soon", 250)
    expect(lanes.nextAtMs(250)).toBe(350)
  })
})

test("the next look is for the lane that is due first", () => {
  const lanes = backoff()
  lanes.pauseFor("a", 90, 0)
  lanes.pauseFor("b", 30, 0)
  lanes.pauseFor("c", 60, 0)
  expect([0, 30, 60, 90].map(lanes.nextAtMs)).toEqual([30, 60, 90, Number.POSITIVE_INFINITY])
})
