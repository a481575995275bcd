import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { type AskingHome, makeAskingHome } from "../fixtures/asking.ts"

const SOON = { timeout: 10_000, interval: 50 }

let b: AskingHome
afterEach(() => b.dispose())

const fileOf = (name: string) => join(b.home.env.HOME!, ".claude", "projects", name)
/** Between two daemons. */
async function meanwhile(work: () => void): Promise<void> {
  await b.home.run("stop")
  work()
  await b.home.run("start")
}
const statusOf = async (team: string) => (await b.status()).pairs.find(({ to }) => to === team)?.status

describe("what agents have kept is looked at when the daemon starts, by its content", () => {
  const teams = ["whole", "gone", "moved", "swapped", "renamed"]

  test("a session that is gone, or of another folder, is missing; a file's name proves nothing", async () => {
    b = await makeAskingHome(Object.fromEntries(teams.map((team) => [team, {}])))
    const asked = Object.fromEntries(
      await Promise.all(teams.map(async (team) => [team, (await b.ask(team, `<<SAY ${team}>>`)).sessionId!] as const)),
    )
    const file = (team: string) => fileOf(b.transcripts().find((name) => name.includes(asked[team]!))!)
    await meanwhile(() => {
      rmSync(file("gone"))
      const change = (team: string, from: string, to: string) => {
        const path = file(team)
        writeFileSync(path, readFileSync(path, "utf8").replaceAll(from, to))
      }
      change("moved", b.dirOf("moved"), b.dirOf("whole"))
      change("swapped", asked.swapped!, "00000000-0000-4000-8000-000000000000")
      // The same records under another name: Claude Code itself would not find them, but they are there.
      renameSync(file("renamed"), file("renamed").replace(asked.renamed!, "11111111-0000-4000-8000-000000000000"))
    })
    const missing = ["gone", "moved", "swapped"]
    for (const team of missing) await expect.poll(() => statusOf(team), SOON).toBe("missing")
    expect([await statusOf("whole"), await statusOf("renamed")]).toEqual(["active", "active"])

    for (const team of missing) {
      const next = await b.ask(team, "<<RECALL next>>")
      expect(next, team).toMatchObject({ status: "done", contextIsNew: true, answer: expect.stringContaining("next") })
      expect(next.sessionId).not.toBe(asked[team])
      expect(await statusOf(team)).toBe("active")
      expect((await b.ask(team, "<<SAY more>>")).contextIsNew).toBeUndefined()
    }
    const whole = await b.ask("whole", "<<RECALL on>>")
    expect(whole).toMatchObject({ answer: "heard: whole on", sessionId: asked.whole })
    expect(whole.contextIsNew).toBeUndefined()
  })
})
