import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"

const AGENTS = 4
const EACH = 250
const BRANCHES = 10
const KILLS = 4

interface Kept {
  thoughtNumber: number
  branchId?: string
  renumberedFrom?: number
}
interface Sent extends Kept {
  text: string
  requested: number
}
interface Stored extends Kept {
  thought: string
}

describe("four agents write into one session, colliding, while the daemon is killed again and again", () => {
  let home: TestHome
  let sessionId: string
  let stored: Stored[]
  const acknowledged: Sent[] = []
  let killed = 0

  beforeAll(async () => {
    home = makeHome()
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => connect(home)))
    const { session } = await agents[0]!.call<{ session: { id: string } }>("init", { operation: "start_new" })
    sessionId = session.id
    const first = { thought: "origin", nextThoughtNeeded: true, sessionId }
    acknowledged.push({ text: "origin", requested: 1, ...(await agents[0]!.call<Kept>("thought", first)) })

    let writing = true
    const all = Promise.allSettled(agents.map((agent, index) => write(agent, index))).then((results) => {
      writing = false
      for (const result of results) if (result.status === "rejected") throw result.reason
    })
    all.catch(() => {})
    // At a random moment in each of as many stretches of the way, mostly with calls under way.
    const stretch = (AGENTS * EACH) / (KILLS + 1)
    for (let number = 1; number <= KILLS; number++) {
      const due = stretch * (number - 1) + Math.random() * stretch
      while (writing && acknowledged.length < due) await sleep(1)
      await sleep(Math.random() * 5)
      let done = false
      while (writing && !done) {
        done = await home.kill()
        if (!done) await sleep(5)
      }
      if (done) killed++
    }
    await all
    await Promise.all(agents.map((agent) => agent.close()))
    const exported = await home.json<{ content: string }>("sessions", "export", sessionId, "--format", "json")
    const { thoughts, branches } = JSON.parse(exported.content) as {
      thoughts: Stored[]
      branches: Record<string, Stored[]>
    }
    stored = [...thoughts, ...Object.values(branches).flat()]
  }, 240_000)
  afterAll(() => home.dispose())

  /** All four request the same numbers; every fifth thought goes to a branch. */
  async function write(agent: McpClient, index: number): Promise<void> {
    for (let step = 1; step <= EACH; step++) {
      const branch = step % 5 === 0 ? `b${(step / 5) % BRANCHES}` : undefined
      const requested = branch === undefined ? step : 2 + Math.floor(step / (5 * BRANCHES))
      const text = `step a${index}s${step}${branch === undefined ? "" : ` on ${branch}`}`
      const kept = await agent.call<Kept>("thought", {
        thought: text,
        thoughtNumber: requested,
        nextThoughtNeeded: true,
        sessionId,
        ...(branch === undefined ? {} : { branchId: branch, branchFromThought: 1 }),
      })
      acknowledged.push({ text, requested, ...kept })
    }
  }

  test("it was killed while they wrote, and came back each time", () => {
    const log = readFileSync(join(home.dir, "logs/throughline.log"), "utf8")
    expect(killed).toBeGreaterThanOrEqual(3)
    expect(log.match(/"msg":"starting"/g)).toHaveLength(killed + 1)
    expect(log).not.toContain('"level":50')
  })

  test("every acknowledged thought is stored once, under the returned number", () => {
    expect(acknowledged).toHaveLength(AGENTS * EACH + 1)
    const place = ({ branchId, thoughtNumber }: Kept, text: string) => `${branchId ?? "main"} ${thoughtNumber} ${text}`
    expect(stored.map((thought) => place(thought, thought.thought)).sort()).toEqual(
      acknowledged.map((sent) => place(sent, sent.text)).sort(),
    )
  })

  test("no number is given twice on a branch", () => {
    const places = stored.map(({ branchId, thoughtNumber }) => `${branchId ?? ""}/${thoughtNumber}`)
    expect(new Set(places).size).toBe(places.length)
    expect(new Set(stored.map((thought) => thought.branchId)).size).toBe(BRANCHES + 1)
  })

  test("an agent that got another number was informed, and the record says so too", () => {
    const moved = acknowledged.filter((sent) => sent.thoughtNumber !== sent.requested)
    // At most one of four gets the number it requested.
    expect(moved.length).toBeGreaterThanOrEqual((AGENTS - 1) * EACH * 0.9)
    const inStore = new Map(stored.map((thought) => [thought.thought, thought.renumberedFrom]))
    for (const sent of acknowledged) {
      const expected = sent.thoughtNumber === sent.requested ? undefined : sent.requested
      expect([sent.renumberedFrom, inStore.get(sent.text)], sent.text).toEqual([expected, expected])
    }
  })

  test("markdown holds every thought of every branch", async () => {
    const { stdout } = await home.run("sessions", "export", sessionId)
    const lines = new Set(stdout.split("\n"))
    expect(acknowledged.filter((sent) => !lines.has(sent.text))).toEqual([])
    for (let branch = 0; branch < BRANCHES; branch++)
      expect(stdout).toContain(`## Branch \`b${branch}\` (from thought 1)`)
  })

  test("search finds the thoughts of branches", async () => {
    const behind = async () =>
      (await home.json<{ followers: { lag: number }[] }>("status")).followers.filter(({ lag }) => lag > 0)
    await expect.poll(behind, { timeout: 60_000 }).toEqual([])
    for (const step of [5, 130, 250]) {
      const branchId = `b${(step / 5) % BRANCHES}`
      const { hits } = await home.json<{ hits: object[] }>("search", `a3s${step}`, "--session-id", sessionId)
      expect(hits[0]).toMatchObject({ sessionId, branchId })
    }
  })
})
