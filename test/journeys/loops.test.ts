import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { SystemStatus } from "../../src/operations/system.ts"
import { type CutLine, cutLineTo } from "../fixtures/cut-line.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { type PostgresServer, startPostgres } from "../fixtures/postgres.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"

/** Every loop of a daemon with everything switched on, and whether it needs the database in every round. */
const LOOPS: Record<string, "database" | "beside"> = {
  "agent process health": "beside",
  "capture new folders": "beside",
  "capture project folders": "database",
  "capture reader": "database",
  "capture sweep": "database",
  "codex approvals": "database",
  "data directory check": "beside",
  "database notifications": "database",
  "hook spool": "database",
  "idle agent processes": "beside",
  "journal consumer capture.twins": "database",
  "journal consumer reach.evidence": "database",
  "journal consumer reach.mirror": "database",
  "journal consumer reach.receipts": "database",
  "journal consumer reach.redaction": "database",
  "journal consumer reach.updates": "database",
  "message progress": "database",
  "message queue": "database",
  "pair maintenance": "beside",
  "search index": "database",
  "search index thread": "beside",
  "session archiving": "beside",
  "session watch": "database",
  "supervised sessions": "database",
  "team questions": "database",
  "telegram outbox": "database",
  "telegram update handling": "database",
  "telegram updates": "database",
  "turn-end notices": "beside",
}
const ALL_RUN = new RegExp(`ok +loops +${Object.keys(LOOPS).length} background loops running, restarted \\d+ times`)

let server: PostgresServer
let line: CutLine
let telegram: Telegram
let home: TestHome
let failing: TestHome
beforeAll(async () => {
  server = await startPostgres()
  const url = new URL(await server.createDatabase())
  line = await cutLineTo(url.hostname, Number(url.port))
  url.port = String(line.port)
  telegram = await startTelegram({ limits: false })
  const group = telegram.group("Work", { people: [telegram.person("Ada")] })
  const bot = {
    THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
    THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
    THROUGHLINE_TELEGRAM_CHAT: String(group.id),
  }
  home = makeHome({ ...bot, THROUGHLINE_DATABASE_URL: url.href })
  failing = makeHome({
    ...bot,
    THROUGHLINE_DATABASE_URL: await server.createDatabase(),
    NODE_OPTIONS: `--import=${new URL("../fixtures/failing-rounds.mjs", import.meta.url).href}`,
  })
}, 240_000)
afterAll(async () => {
  await home?.dispose()
  await failing?.dispose()
  await line?.close()
  await server?.stop()
  await telegram?.close()
})

const loops = async (at = home) => {
  const { loops } = await at.json<SystemStatus>("status")
  return new Map(loops.map((loop) => [loop.name, loop]))
}
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(250)
}
const said = (n: number) =>
  `${JSON.stringify({
    type: "user",
    uuid: `u${n}`,
    sessionId: "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2001",
    timestamp: "2026-08-16T08:00:00.000Z",
    cwd: "/w/app",
    message: { content: `line number ${n}` },
  })}\n`

test("a database outage stops no loop permanently: doctor names each failing one, all recover, and no line is lost", async () => {
  const folder = join(home.env.HOME!, ".claude/projects/-w-app")
  const transcript = join(folder, "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2001.jsonl")
  mkdirSync(folder, { recursive: true })
  writeFileSync(transcript, said(0))
  expect((await home.run("start")).code).toBe(0)
  await home.run("import")
  expect([...(await loops()).keys()]).toEqual(Object.keys(LOOPS))
  const names = Object.keys(LOOPS).filter((name) => LOOPS[name] === "database")

  await line.cut()
  mkdirSync(join(home.dir, "spool"), { recursive: true, mode: 0o700 })
  const stop = JSON.stringify({ hook_event_name: "Stop", session_id: "s1", cwd: "/w/app" })
  writeFileSync(join(home.dir, "spool", "1-1.hook"), `throughline-hook 1\nplatform: claude-code\n\n${stop}`)
  const seen = new Set<string>()
  let lines = 1
  const missing = () => names.filter((name) => !seen.has(name))
  const untilMs = performance.now() + 90_000
  await until(async () => {
    // An agent that goes on writing all the while.
    for (let n = 0; n < 5 && lines < 20; n++) appendFileSync(transcript, said(lines++))
    for (const { name, state, error } of (await loops()).values()) if (state === "restarting" && error) seen.add(name)
    return performance.now() > untilMs || (lines === 20 && missing().length === 0)
  })
  expect(missing()).toEqual([])
  expect([...seen].filter((name) => !names.includes(name))).toEqual([])
  const doctor = await home.run("doctor")
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/FAIL +store +postgres/)
  expect(doctor.stdout).toMatch(/FAIL +loop capture sweep +restarting since \d{4}-.* \(failed .+\): /)
  expect(doctor.stdout).not.toContain("All good")
  expect((await home.run("import")).code).not.toBe(0)

  await line.restore()
  await until(async () => [...(await loops()).values()].every(({ state }) => state === "running"))
  await until(async () => {
    const { sessions } = await home.json<{ sessions: { turnCount: number }[] }>("sessions")
    return sessions.some(({ turnCount }) => turnCount === 20)
  })
  const { stdout: better } = await home.run("doctor")
  expect(better).toMatch(/warn +fleet +database.url is set: several machines on one database are experimental/)
  expect(better).toMatch(ALL_RUN)

  const startedMs = performance.now()
  expect((await home.run("stop")).code).toBe(0)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
}, 240_000)

test("each loop that throws is restarted with backoff and named by doctor, and recovers", async () => {
  mkdirSync(failing.dir, { mode: 0o700 })
  const faults = join(failing.dir, "fail-rounds")
  writeFileSync(faults, "")
  expect((await failing.run("start")).code).toBe(0)
  const failed = async () => {
    const states = [...(await loops(failing)).values()]
    return states.filter(({ state, restarts }) => state === "restarting" && restarts >= 3)
  }
  // Runs once, before anything is captured; the other loops of capture begin after it.
  const FIRST = "capture origins"
  await until(async () => (await failed()).some(({ name }) => name === FIRST))
  writeFileSync(faults, FIRST)
  let missing = Object.keys(LOOPS)
  const untilMs = performance.now() + 120_000
  await until(async () => {
    const names = (await failed()).map(({ name }) => name)
    missing = Object.keys(LOOPS).filter((name) => !names.includes(name))
    return missing.length === 0 || performance.now() > untilMs
  })
  expect(missing).toEqual([])
  for (const { name, error } of await failed()) expect(error).toBe(`thrown inside of ${name}`)
  const { stdout, code } = await failing.run("doctor")
  expect(code).toBe(1)
  for (const name of Object.keys(LOOPS))
    expect(stdout).toMatch(
      new RegExp(`FAIL +loop ${name} +restarting since .* \\(failed .+\\): thrown inside of ${name}`),
    )

  rmSync(faults)
  await until(async () => [...(await loops(failing)).values()].every(({ state }) => state === "running"))
  expect([...(await loops(failing)).keys()]).toEqual(Object.keys(LOOPS))
  expect((await failing.run("doctor")).stdout).toMatch(ALL_RUN)
}, 240_000)
