import { expect, test } from "vitest"
import { admittedOf } from "./channel.ts"
import { messageOf, unreadableMessage } from "./message.ts"
import { askOf, noticeOf, unreadableAsk } from "./pair.ts"

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
  expect(() => messageOf({ payload: notice }), "one of another channel").toThrow("cannot be read at its beginning")
  expect(askOf.misfit({ payload: notice })).toBe("pairId")
})

test("what replaces a payload that cannot be read is read by everybody", () => {
  const broken = { lane: "team:api!urgent", payload: { text: "Build it", sender: "nobody's" } }
  expect(messageOf({ payload: unreadableMessage(broken) })).toMatchObject({ team: "api", text: "Build it" })
  expect(askOf({ payload: unreadableAsk({ lane: "pair:p1" }) })).toMatchObject({ pairId: "p1", text: "" })
})
