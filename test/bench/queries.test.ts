import { beforeAll, describe, expect, test } from "vitest"
import { makeMessages, PER_SESSION } from "../../bench/corpus/messages.ts"
import { makeQueries, type Queries, wordsOf } from "../../bench/search-queries.ts"

const SESSIONS = 20
const messages = makeMessages({ sessions: SESSIONS })
let queries: Queries

beforeAll(() => {
  queries = makeQueries(messages, SESSIONS)
})

describe("messages", () => {
  test("are the same each time, whichever session is made first", () => {
    const again = makeMessages({ sessions: SESSIONS })
    again.of(3)
    expect(again.of(7)).toEqual(messages.of(7))
    expect(again.of(7)).toHaveLength(PER_SESSION)
  })

  test("come in the order of their time, one session after the other", () => {
    const times = [0, 1, 2].flatMap((session) => messages.of(session).map(({ atMs }) => atMs))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })
})

describe("known items", () => {
  test("are 476 and spread evenly over age", () => {
    expect(queries.said).toHaveLength(476)
    const fifths = Map.groupBy(queries.said, ({ fifth }) => fifth)
    for (const items of fifths.values()) expect(Math.abs(items.length - 476 / 5)).toBeLessThan(2)
    expect(fifths.size).toBe(5)
  })

  test("the remembered words are in the message, nearly all", () => {
    const shares = queries.said.map(({ session, number, remembered }) => {
      const inMessage = new Set(wordsOf(messages.of(session)[number]!.text))
      const words = wordsOf(remembered)
      return words.filter((word) => inMessage.has(word)).length / words.length
    })
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThan(0.9)
  })

  test("the misremembered have one or two words that are not in the message in any form", () => {
    for (const { session, number, remembered, misremembered } of queries.said) {
      const inMessage = new Set(wordsOf(messages.of(session)[number]!.text))
      const [right, wrong] = [remembered.split(" "), misremembered.split(" ")]
      const changed = wrong.filter((word, i) => word !== right[i])
      expect(changed.length).toBeGreaterThanOrEqual(1)
      expect(changed.length).toBeLessThanOrEqual(2)
      for (const word of changed) expect(wordsOf(word).some((each) => inMessage.has(each))).toBe(false)
    }
  })
})

test("there are 989 latency queries, with filters of every kind on half of them", () => {
  expect(queries.latency).toHaveLength(989)
  const filtered = queries.latency.filter(({ filter }) => filter !== undefined)
  expect(Math.abs(filtered.length - 989 / 2)).toBeLessThan(10)
  expect(new Set(filtered.flatMap(({ filter }) => Object.keys(filter!)))).toEqual(
    new Set(["root", "platform", "session", "role", "sinceMs", "untilMs"]),
  )
})
