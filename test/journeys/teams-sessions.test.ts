import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { processStart } from "../../src/daemon/process/process-identity.ts"
import { type AskAnswer, type AskingHome, makeAskingHome } from "../fixtures/asking.ts"

const SOON = { timeout: 60_000, interval: 50 }

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

describe("agents' session files are checked when the daemon starts, by their content", () => {
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

describe("a session that no pair has any more", () => {
  const loseThePairs = () =>
    meanwhile(() => {
      const db = new Database(join(b.home.dir, "throughline.db"))
      for (const table of ["pair_sessions", "pairs", "deliveries", "answers"]) db.exec(`delete from ${table}`)
      db.close()
    })
  /** As Claude Code tells of a session that somebody has in a terminal. */
  const registers = (pid: number, sessionId: string) => {
    const dir = join(b.home.env.HOME!, ".claude", "sessions")
    mkdirSync(dir, { recursive: true })
    const entry = { pid, sessionId, cwd: b.dirOf("api"), status: "idle", kind: "interactive" }
    writeFileSync(join(dir, `${pid}.json`), JSON.stringify(entry))
  }
  const orphaned = async (team?: string) => (await b.status(team === undefined ? {} : { team })).foundlings ?? []
  const fromWeb = (question: string, more: object = {}) =>
    b.ask("api", question, { fromTeam: "web", threadId: 'plan "b"', ...more })

  test("is offered with its intended pair, and continues once it is adopted", async () => {
    b = await makeAskingHome({ web: {}, api: {}, docs: {} })
    const { sessionId } = await fromWeb("<<SAY plum>>")
    await b.ask("docs", "<<SAY fig>>")
    expect(await orphaned(), "as long as pairs have them").toEqual([])
    await loseThePairs()
    await expect.poll(async () => (await orphaned()).length, SOON).toBe(2)
    expect(await orphaned("api")).toEqual([
      expect.objectContaining({ sessionId, from: "web", to: "api", threadId: 'plan "b"', messages: 1 }),
    ])
    const { stdout } = await b.home.run("teams", "status")
    expect(stdout).toContain(`throughline teams adopt ${sessionId}`)

    const { stdout: adopted } = await b.home.run("teams", "adopt", sessionId!.slice(0, 8))
    expect(adopted).toContain(`web → api (plan "b") continues with ${sessionId}`)
    const calls = b.modelCalls()
    const next = await fromWeb("<<RECALL pit>>")
    expect(next).toMatchObject({ answer: "heard: plum pit", sessionId })
    expect(next.contextIsNew).toBeUndefined()
    expect(b.modelCalls()).toBe(calls + 1)
    expect(await orphaned("api")).toEqual([])
  })

  test("cannot be adopted while a pair has it, while it is open, or for another team", async () => {
    b = await makeAskingHome({ web: {}, api: {}, docs: {} })
    const { sessionId } = await fromWeb("<<SAY plum>>")
    const adopt = (more: object) => b.refused("teams.adopt", { session: sessionId, ...more })
    await expect
      .poll(async () => (await adopt({})).message, SOON)
      .toContain("is, or was, the session of a pair already")
    await loseThePairs()
    await expect.poll(async () => (await orphaned()).length, SOON).toBe(1)
    const somebody = spawn("sleep", ["60"])
    registers(somebody.pid!, sessionId!)
    await expect.poll(() => orphaned(), SOON).toEqual([])
    expect((await adopt({})).message).toContain("is open now")
    somebody.kill()
    await expect.poll(async () => (await orphaned()).length, SOON).toBe(1)
    expect((await adopt({ to: "docs" })).message).toContain(`no session of claude-code in ${b.dirOf("docs")}`)
    expect((await adopt({ to: "nobody" })).message).toContain('no team "nobody"')
    expect((await adopt({ from: "nobody" })).message).toContain('no team "nobody"')
    expect((await b.refused("teams.adopt", { session: "none" })).message).toContain("has the id none")
    const other = await fromWeb("<<SAY fig>>")
    expect(other.sessionId).not.toBe(sessionId)
    expect((await adopt({})).message).toContain("has a session already")
    const { pair } = await b.call<{ pair: { threadId: string } }>("teams.adopt", { session: sessionId, thread: "old" })
    expect(pair.threadId).toBe("old")
    expect((await fromWeb("<<RECALL pit>>", { threadId: "old" })) satisfies AskAnswer).toMatchObject({
      answer: "heard: plum pit",
    })
  })
})

test("the most used pairs are started in advance, within the process limit; no model is called", async () => {
  const settings = { prestart: 3, maxProcesses: 2 }
  b = await makeAskingHome({ often: {}, seldom: {}, most: {}, gone: {} }, { settings })
  const times = { often: 2, seldom: 1, most: 3, gone: 4 }
  for (const [team, count] of Object.entries(times))
    for (let nth = 0; nth < count; nth++) await b.ask(team, `<<SAY ${team}>>`)
  const calls = b.modelCalls()
  const lost = (await b.status()).pairs.find(({ to }) => to === "gone")!.sessionId!
  await meanwhile(() => rmSync(fileOf(b.transcripts().find((name) => name.includes(lost))!)))
  const awake = async () => (await b.status()).processes.map(({ to, state }) => `${to} ${state}`).toSorted()
  await expect.poll(awake, SOON).toEqual(["most idle", "often idle"])
  const pid = await b.pidOf("most")
  expect(await b.ask("most", "<<RECALL on>>")).toMatchObject({ answer: "heard: most most most on" })
  expect(await b.pidOf("most")).toBe(pid)
  expect(b.modelCalls()).toBe(calls + 1)
})

describe("a process that is alive and hangs", () => {
  beforeEach(async () => {
    b = await makeAskingHome({ api: {}, web: {} }, { settings: { healthCheckInterval: 1_000 } })
  })

  test("is replaced while idle, and the session continues", { timeout: 240_000 }, async () => {
    await b.ask("api", "<<SAY plum>>")
    const pid = await b.pidOf("api")
    process.kill(pid, "SIGSTOP")
    await expect.poll(async () => (await b.status()).processes, { timeout: 60_000 }).toEqual([])
    expect(processStart(pid), "and is ended").toBeUndefined()
    expect(await b.ask("api", "<<RECALL pit>>")).toMatchObject({ answer: "heard: plum pit" })
  })

  test("is found out by a question that comes before, which another one answers", { timeout: 240_000 }, async () => {
    const { sessionId } = await b.ask("api", "<<SAY plum>>")
    await b.ask("web", "<<SAY fig>>")
    const pid = await b.pidOf("api")
    await b.home.run("stop")
    writeFileSync(join(b.home.dir, "config.json"), configWith({ healthCheckInterval: 3_600_000 }))
    await b.home.run("start")
    await b.ask("api", "<<SAY pear>>")
    const hanging = await b.pidOf("api")
    expect(hanging).not.toBe(pid)
    await sleep(2_100)
    process.kill(hanging, "SIGSTOP")
    expect(await b.ask("api", "<<RECALL pit>>")).toMatchObject({ answer: "heard: plum pear pit", sessionId })
    expect(await b.pidOf("api")).not.toBe(hanging)
  })

  test("and is at something is left alone: a silence is no death", async () => {
    const { messageId } = await b.ask("api", "<<SLOW 4500>>", { timeout: 0 })
    await b.until(messageId, ({ status }) => status === "delivered")
    const pid = await b.pidOf("api")
    process.kill(pid, "SIGSTOP")
    await sleep(5_500)
    expect((await b.message(messageId)).status).toBe("delivered")
    process.kill(pid, "SIGCONT")
    expect(await b.until(messageId, ({ status }) => status === "done")).toMatchObject({ answer: "4500" })
    expect(await b.pidOf("api")).toBe(pid)
  })
})

/** The daemon's configuration, with other settings. */
function configWith(settings: object): string {
  const config = JSON.parse(readFileSync(join(b.home.dir, "config.json"), "utf8")) as object
  return JSON.stringify({ ...config, settings })
}
