import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { codex } from "../../../src/agents/codex/line.ts"
import { codexLive } from "../../../src/agents/codex/line-live.ts"
import { processStart } from "../../../src/daemon/process/process-identity.ts"
import type { OpenLine } from "../../../src/domain/agent-line.ts"
import { newMessageId } from "../../../src/domain/ids.ts"
import { agents, runCodex } from "../../fixtures/agents.ts"
import { type CodexTerminal, openCodex } from "../../fixtures/codex-terminal.ts"
import { text, toolUse } from "../../fixtures/model-api.ts"
import { openTerminal } from "../../fixtures/terminal.ts"

const SOON = { timeout: 60_000, interval: 50 }

let at: CodexTerminal
beforeAll(async () => {
  at = await openCodex()
}, 240_000)
afterAll(() => at.dispose())

const message = (said: string) => ({ id: newMessageId("lake"), text: said })
const open = async (nativeId: string): Promise<OpenLine> => {
  const line = await codex.open(at.machine, { nativeId })
  expect(line).toBeDefined()
  return line!
}
const answers = () => at.model.script(({ turn }) => [text(`Answer ${turn + 1}`)])

test("before Codex was ever used here there is no line, and nobody is live", async () => {
  expect(await codexLive(at.machine)).toEqual([])
  const nativeId = "01234567-0123-7123-8123-0123456789ab"
  expect(await codex.open(at.machine, { nativeId })).toBeUndefined()
  expect(existsSync(join(at.home.env.HOME!, ".codex", "sessions"))).toBe(false)
})

test("what is live is told: session, folder, the process that runs it, and what it waits for", async () => {
  answers()
  const nativeId = await at.start()
  const [live, ...others] = await codexLive(at.machine)
  expect(others).toEqual([])
  expect(live).toEqual({
    platform: "codex",
    nativeId,
    pid: live!.pid,
    processStart: processStart(live!.pid),
    cwd: at.cwd,
    status: "idle",
    waitingFor: null,
    statusAtMs: null,
    isUnattended: false,
    isShown: true,
  })
  // The titles that Codex makes for itself are sessions too, and are not told.
  const line = await open(nativeId)
  await line.submit(message("Say something."))
  await at.terminal.shows("Answer 1")
  line.close()
  expect((await codexLive(at.machine)).map((one) => one.nativeId)).toEqual([nativeId])

  // The daemon keeps it open when its terminal goes on to another, and until then it is reached.
  const listed = async () => await codexLive(at.machine)
  const attended = async () => (await listed()).map((one) => [one.nativeId, !one.isUnattended])
  const shown = async () => (await listed()).filter(({ isShown }) => isShown).map((one) => one.nativeId)
  await at.quit()
  await expect.poll(attended, SOON).toEqual([[nativeId, true]])
  await expect.poll(shown, SOON).toEqual([])
  const next = await at.start()
  await expect.poll(attended, SOON).toEqual([
    [next, true],
    [nativeId, false],
  ])
  await at.quit()
  await at.start(nativeId)
  await expect.poll(attended, SOON).toEqual([
    [nativeId, true],
    [next, false],
  ])

  // Two terminals at once: as many are shown as there are terminals.
  const second = openTerminal(at.home, { cwd: at.cwd, columns: 100, rows: 40, name: "second" })
  second.run(agents.codex())
  await expect.poll(async () => (await shown()).length, { ...SOON, timeout: 60_000 }).toBe(2)
  expect(await shown()).toContain(nativeId)
  second.end()
  await expect.poll(async () => (await shown()).length, SOON).toBe(1)
  await at.quit()
})

test("a dialog in the terminal is not answered by what arrives, which comes after it", async () => {
  const nativeId = await at.start()
  const isAsked = (body: unknown) => JSON.stringify(body).includes("Touch it.")
  at.model.script(({ turn, body, toolResults }) =>
    isAsked(body) && turn === 0 && toolResults.length === 0
      ? [
          toolUse("exec_command", {
            cmd: "touch touched",
            sandbox_permissions: "require_escalated",
            justification: "so",
          }),
        ]
      : [text(`Answer ${turn + 1}`)],
  )
  const line = await open(nativeId)
  await line.submit(message("Touch it."))
  await at.terminal.shows("Would you like to run")
  await expect.poll(() => line.status, SOON).toBe("waiting")
  expect((await codexLive(at.machine)).find((one) => one.nativeId === nativeId)).toMatchObject({
    status: "waiting",
    waitingFor: "waitingOnApproval",
  })
  const behind = message("y\n\n1\n")
  await line.submit(behind)
  await at.terminal.shows("Would you like to run")
  expect(line.status).toBe("waiting")
  expect(existsSync(join(at.cwd, "touched"))).toBe(false)
  expect(await line.stateOf(behind.id, Date.now())).not.toEqual({ kind: "none" })

  // A person says no, which halts the queue of Codex; the next message sets it going again, in order.
  at.terminal.key("Escape")
  await expect.poll(() => line.status, SOON).toBe("idle")
  await line.submit(message("And then?"))
  await expect.poll(() => at.prompts(nativeId).slice(-2), SOON).toEqual([behind.text, "And then?"])
  expect(existsSync(join(at.cwd, "touched"))).toBe(false)
  line.close()
  await at.quit()
})

test("a draft in the terminal stays as it is", async () => {
  answers()
  const nativeId = await at.start()
  at.terminal.type("half a thought")
  await at.terminal.shows("half a thought")
  const line = await open(nativeId)
  await line.submit(message("a whole one"))
  await at.terminal.shows("Answer 1")
  await at.terminal.shows("› half a thought")
  expect(at.prompts(nativeId)).toEqual(["a whole one"])
  line.close()
  at.terminal.key("C-c")
  await at.quit()
})

test("with no daemon it is stored under its id, exactly, and comes when the session is gone on with", async () => {
  answers()
  const nativeId = await at.start()
  const before = await open(nativeId)
  await before.submit(message("before"))
  await at.terminal.shows("Answer 1")
  before.close()
  await at.quit()
  await at.stopDaemon()

  const line = await open(nativeId)
  expect(line).toMatchObject({ isLive: false, status: "idle" })
  const sinceMs = Date.now()
  const sent = ["!touch it-ran", "-x\n/y", "long ".repeat(40_000)].map(message)
  for (const one of sent) await line.submit(one)
  for (const { id } of sent) expect(await line.stateOf(id, sinceMs)).not.toEqual({ kind: "none" })
  expect(await line.stateOf(newMessageId("lake"), sinceMs)).toEqual({ kind: "none" })
  await line.interrupt()
  line.close()
  expect(await codexLive(at.machine)).toEqual([])

  await at.start(nativeId)
  const all = ["before", ...sent.map((one) => one.text)]
  await expect.poll(() => at.prompts(nativeId), { ...SOON, timeout: 60_000 }).toEqual(all)
  const after = await open(nativeId)
  for (const { id } of sent) expect(await after.stateOf(id, sinceMs)).not.toEqual({ kind: "none" })
  after.close()
  await at.quit()
})

test("a daemon that was killed in a turn has kept what was taken, and nothing is run twice", async () => {
  let isHeld = true
  const { promise, resolve } = Promise.withResolvers<void>()
  at.model.script(async ({ turn }) => {
    if (isHeld) await promise
    return [text(`Answer ${turn + 1}`)]
  })
  const nativeId = await at.start()
  const line = await open(nativeId)
  const sinceMs = Date.now()
  const [running, waiting] = [message("running when it fell"), message("waiting when it fell")]
  await line.submit(running)
  await expect.poll(() => at.prompts(nativeId), SOON).toEqual([running.text])
  await line.submit(waiting)
  await at.killDaemon()
  await expect(line.submit(message("into the void"))).rejects.toMatchObject({ code: "agent_unreachable" })
  isHeld = false
  resolve()

  const away = await open(nativeId)
  expect(await away.stateOf(running.id, sinceMs)).toEqual({ kind: "interrupted" })
  expect(await away.stateOf(waiting.id, sinceMs)).toEqual({ kind: "waiting" })
  away.close()
  await at.quit()
  await at.start(nativeId)
  await expect.poll(() => at.prompts(nativeId).at(-1), { ...SOON, timeout: 60_000 }).toBe(waiting.text)
  expect(at.prompts(nativeId).filter((one) => one === waiting.text)).toHaveLength(1)
  expect(at.prompts(nativeId).filter((one) => one === running.text)).toHaveLength(1)
  await at.quit()
})

test("a daemon that hangs keeps nobody waiting: what is stored past it runs when it is well again", async () => {
  answers()
  const nativeId = await at.start()
  const before = await open(nativeId)
  await before.submit(message("before"))
  await at.terminal.shows("Answer 1")
  before.close()
  const { pid } = (await codexLive(at.machine))[0]!
  process.kill(pid, "SIGSTOP")
  try {
    // A thread that runs for a moment longer would still take the connection.
    await expect.poll(() => isStopped(pid), SOON).toBe(true)
    const askedAtMs = Date.now()
    const line = await open(nativeId)
    expect(line.isLive).toBe(false)
    expect(Date.now() - askedAtMs).toBeLessThan(20_000)
    const sent = message("past the one that hangs")
    await line.submit(sent)
    expect(await line.stateOf(sent.id, askedAtMs)).not.toEqual({ kind: "none" })
  } finally {
    process.kill(pid, "SIGCONT")
  }
  const both = ["before", "past the one that hangs"]
  await expect.poll(() => at.prompts(nativeId), { ...SOON, timeout: 60_000 }).toEqual(both)
  await at.quit()
}, 240_000)

test("a session that `codex exec` has made takes messages too; one that is unknown is refused", async () => {
  answers()
  await at.stopDaemon()
  const { nativeSession } = await runCodex({ home: at.home, modelUrl: at.model.url, cwd: at.cwd, prompt: "Hello." })
  const line = await open(nativeSession)
  const sent = message("for later")
  await line.submit(sent)
  expect(await line.stateOf(sent.id, Date.now())).not.toEqual({ kind: "none" })
  const unknown = await open("01234567-0123-7123-8123-0123456789ab")
  await expect(unknown.submit(sent)).rejects.toMatchObject({ code: "agent_refused" })
  const nowhere = { ...at.machine, homeDir: join(at.cwd, "nowhere") }
  expect(await codex.open(nowhere, { nativeId: nativeSession })).toBeUndefined()
})

test("a terminal that runs without the daemon finds by itself what was stored for it", async () => {
  answers()
  const folder = join(at.home.env.HOME!, ".codex", "thread-writer-locks")
  await at.quit()
  at.terminal.run(`${agents.codex()} --disable daemon_auto_start`)
  const locked = () => readdirSync(folder).find((name) => name.endsWith(".lock") && !name.startsWith("."))
  await expect.poll(locked, SOON).toBeDefined()
  await at.terminal.shows("›")
  at.terminal.type("Hello.")
  await at.terminal.shows("› Hello.")
  at.terminal.key("Enter")
  await at.terminal.shows("Answer 1")
  const nativeId = locked()!.replace(".lock", "")
  expect(await codexLive(at.machine)).toEqual([])
  const line = await open(nativeId)
  expect(line.isLive).toBe(false)
  await line.submit(message("found in the store"))
  // It looks every ten seconds.
  await expect.poll(() => at.prompts(nativeId), { ...SOON, timeout: 60_000 }).toEqual(["Hello.", "found in the store"])
  await at.quit()
}, 240_000)

function isStopped(pid: number): boolean {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.every((id) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/task/${id}/status`, "utf8")))
}
