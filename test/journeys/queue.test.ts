import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"

const SOON = { timeout: 15_000, interval: 50 }
const ALL = ["queued", "delivered", "seen", "running", "done"]

let q: QueueHome
beforeAll(async () => {
  q = await makeQueueHome(["api", "web", "ops"])
}, 60_000)
afterAll(() => q.dispose())

const state = (id: string) => async () => (await q.show(id)).state

describe("an agent in tmux", () => {
  test("that is idle gets the owner's words as they are, and every state is told", async () => {
    const api = await q.start("api")
    const { id } = (await q.send("api", "count the stones")) as { id: string }
    await expect.poll(state(id), SOON).toBe("done")
    expect(api.prompts()).toEqual(["count the stones"])
    expect(q.states(id)).toEqual(ALL)
    expect(await q.show(id)).toMatchObject({ way: "pane" })
  }, 60_000)
})
