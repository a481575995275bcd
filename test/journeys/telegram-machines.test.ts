import { expect, test } from "vitest"
import { threeMachines } from "../fixtures/machines.ts"

test("three machines with a bot each share a group: each message is handled once, each question answered by one", async () => {
  expect(await threeMachines(30)).toEqual({ once: 30, elsewhere: 0, answers: [1, 1, 1], named: [1, 1, 1] })
}, 240_000)
