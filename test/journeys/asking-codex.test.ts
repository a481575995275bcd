import { existsSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { codexLive } from "../../src/agents/codex/line-live.ts"
import type { PermissionView } from "../../src/operations/permissions.ts"
import { type CodexTerminal, openCodex } from "../fixtures/codex-terminal.ts"
import { ask } from "../fixtures/daemon.ts"
import { type Block, text, toolUse } from "../fixtures/model-api.ts"

const SOON = { timeout: 60_000, interval: 50 }
let codex: CodexTerminal
beforeAll(async () => {
  codex = await openCodex()
  await codex.home.run("start")
}, 240_000)
afterAll(() => codex.dispose(), 60_000)

const post = async <T>(name: string, input: object) => {
  const headers = { "throughline-caller": encodeURIComponent(JSON.stringify({ surface: "cli", cwd: "/" })) }
  return (await ask(codex.home, { path: `/api/${name}`, body: JSON.stringify(input), socket: true, headers })).json<T>()
}
const list = async (all = false) =>
  (await post<{ permissions: PermissionView[] }>("permissions.list", { all })).permissions
const recent = async (id: string) => (await list(true)).find((one) => one.id === id)!
const answer = (id: string, word: string, more: object = {}) =>
  post<{ accepted: boolean; permission: PermissionView }>("permissions.answer", { id, answer: word, ...more })
const file = (name: string) => join(codex.cwd, name)

/** The model wants to leave its sandbox; returns when that is asked of whoever watches. */
async function asked(name: string) {
  // What is typed while it works would go into the turn that runs.
  await expect.poll(async () => (await codexLive(codex.machine))[0]?.status, SOON).toBe("idle")
  const input = { cmd: `touch ${file(name)}`, sandbox_permissions: "require_escalated", justification: "May I?" }
  const said: Block[][] = [[toolUse("exec_command", input)], [text(`over ${name}`)]]
  let at = 0
  codex.model.script(() => said[Math.min(at++, 1)]!)
  const before = (await list(true)).map(({ id }) => id)
  codex.terminal.type(`do ${name}`)
  await sleep(300)
  codex.terminal.key("Enter")
  let found: PermissionView | undefined
  await expect.poll(async () => (found = (await list()).find(({ id }) => !before.includes(id))), SOON).toBeDefined()
  await codex.terminal.shows("Would you like to run")
  return found!
}
const isClosed = () =>
  expect.poll(() => codex.terminal.lines().join("\n"), SOON).not.toContain("Press enter to confirm")

test("a request of the real Codex in its terminal is allowed from elsewhere, and its dialog closes", async () => {
  await codex.start()
  const permission = await asked("one")
  expect(permission).toMatchObject({ tool: "shell", title: "May I?", asker: "Codex in lake" })
  expect(String(permission.input.command)).toContain(`touch ${file("one")}`)
  const began = performance.now()
  expect((await answer(permission.id, "allow")).accepted).toBe(true)
  await expect.poll(() => existsSync(file("one")), SOON).toBe(true)
  expect(performance.now() - began).toBeLessThan(20_000)
  await isClosed()
}, 240_000)

test("is denied", async () => {
  const permission = await asked("two")
  expect((await answer(permission.id, "deny")).accepted).toBe(true)
  await isClosed()
  await sleep(300)
  expect(existsSync(file("two"))).toBe(false)
}, 240_000)

test("the terminal is first: it is stale within three seconds", async () => {
  const permission = await asked("three")
  const began = performance.now()
  codex.terminal.key("Enter")
  await expect.poll(async () => (await recent(permission.id)).state, SOON).toBe("stale")
  expect(performance.now() - began).toBeLessThan(20_000)
  expect(await recent(permission.id)).toMatchObject({ reason: "answered at the terminal" })
  expect((await answer(permission.id, "deny")).accepted).toBe(false)
  await expect.poll(() => existsSync(file("three")), SOON).toBe(true)
}, 240_000)

test("the daemon is killed while it waits: the dialog stays, and the same question is answered after it", async () => {
  const permission = await asked("four")
  await codex.home.kill()
  await codex.terminal.shows("Would you like to run")
  expect(existsSync(file("four"))).toBe(false)
  await codex.home.run("start")
  await expect.poll(async () => (await list()).map(({ id }) => id), SOON).toEqual([permission.id])
  await expect.poll(async () => (await answer(permission.id, "allow")).permission.state, SOON).toBe("allowed")
  await expect.poll(() => existsSync(file("four")), SOON).toBe(true)
}, 240_000)

test("answered at the terminal while the daemon is down, the request is settled, and the next one is pending", async () => {
  const permission = await asked("five")
  await codex.home.kill()
  codex.terminal.key("Enter")
  await expect.poll(() => existsSync(file("five")), SOON).toBe(true)
  await isClosed()
  await codex.home.run("start")
  // Somebody looks at the page, so that requests are shown there.
  await expect.poll(() => list(), SOON).toEqual([])
  expect(await recent(permission.id)).toMatchObject({ state: "stale", reason: "answered at the terminal" })
  const next = await asked("six")
  expect((await answer(next.id, "allow")).accepted).toBe(true)
  await expect.poll(() => existsSync(file("six")), SOON).toBe(true)
}, 240_000)
