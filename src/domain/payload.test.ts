import { expect, test } from "vitest"
import { admittedOf } from "./channel.ts"
import { noticeOf } from "./pair.ts"

const notice = { text: "the schema changes", sender: "api", fromTeam: "api", toTeam: "web" }

test("a payload is read as it was written, with what only a later version knows", () => {
  const newer = { ...notice, later: { deep: 1 } }
  expect(noticeOf({ payload: newer })).toEqual(newer)
  const admitted = { bot: "b", updateId: 7, digest: "d" }
  expect(admittedOf({ payload: admitted }), "without the words, once it was handled").toEqual(admitted)
})

test("a payload that does not fit is refused, and where is said", () => {
  expect(() => noticeOf({ payload: { ...notice, toTeam: 7 } })).toThrow("cannot be read at toTeam")
  expect(() => admittedOf({ payload: {} })).toThrow("cannot be read at bot")
})
