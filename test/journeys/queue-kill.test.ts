import { afterAll, beforeAll, expect, test } from "vitest"
import { processStart } from "../../src/daemon/process/process-identity.ts"
import { type DeadlyMoment, makeDeadlyTmux } from "../fixtures/deadly-tmux.ts"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { tortureInbound } from "../fixtures/inbound-torture.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"

const SOON = { timeout: 60_000, interval: 50 }

let q: QueueHome
let agent: FakeAgent
const deadly = makeDeadlyTmux()
beforeAll(async () => {
  q = await makeQueueHome(["api"], { PATH: `${deadly.bin}:${process.env.PATH}` })
  deadly.aimAt(q.home.dir)
  agent = await q.start("api")
}, 240_000)
afterAll(async () => {
  await q.dispose()
  deadly.dispose()
})

test.each<[string, DeadlyMoment]>([
  // It is written by then that the message goes.
  ["right before it pastes", "before-paste"],
  ["between paste and Enter", "after-paste"],
  ["when it is about to press Enter", "before-enter"],
  ["right after Enter", "after-enter"],
])(
  "a message is pasted once and submitted once by a daemon that is killed %s",
  async (_, moment) => {
    const before = { pastes: deadly.pastes(), prompts: agent.prompts().length }
    const { pid } = q.home.registration()
    deadly.arm(moment)
    const text = `mind the gap, ${moment}`
    const { id } = await q.send("api", text)
    await expect.poll(() => processStart(pid), SOON).toBeUndefined()
    expect(deadly.isArmed(moment)).toBe(false)
    await q.home.run("start")
    // What comes after it is not overtaken, and shows that nothing is left in the input line.
    const { id: next } = await q.send("api", `and then, ${moment}`)
    for (const one of [id!, next!]) await expect.poll(async () => (await q.show(one)).state, SOON).toBe("done")
    expect(agent.prompts().slice(before.prompts)).toEqual([text, `and then, ${moment}`])
    expect(deadly.pastes() - before.pastes).toBe(2)
    expect(q.states(id!)).toEqual(["queued", "delivered", "seen", "running", "done"])
  },
  90_000,
)

test("texts for six sessions are submitted once each and in order by a daemon that is killed around its writes", async () => {
  const result = await tortureInbound({ sessions: 6, texts: 36, kills: 6, batch: 12, maxMs: 150_000 })
  expect(result).toMatchObject({ submitted: 36, distinct: 36, duplicates: 0, misplaced: 0, missing: 0, outOfOrder: 0 })
  expect(result).toMatchObject({ kills: 6, states: { done: 36 } })
  expect(Object.keys(result.moments)).toHaveLength(6)
}, 240_000)
