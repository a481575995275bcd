import { afterEach, beforeEach, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"

let home: TestHome
beforeEach(() => {
  home = makeHome()
})
afterEach(() => home.dispose())

interface Audit {
  entries: { who: string; what: string; data: Record<string, unknown> }[]
}

test("changes by commands while no daemon runs are in the audit afterwards, oldest first, even after a kill", async () => {
  await home.run("config", "set", "log.level", "debug")
  await home.run("setup", "codex", "--yes")
  await home.run("setup", "codex", "--yes")
  expect((await home.run("start", "--set", "http.enabled=false")).code).toBe(0)
  await home.run("unsetup", "codex", "--yes")
  const seen = async () => (await home.json<Audit>("audit")).entries.toReversed()
  const before = await seen()
  expect(before.map(({ what }) => what)).toEqual(["config.set", "setup", "start", "unsetup"])
  expect(before.map(({ who }) => who)).toEqual(Array(4).fill("the owner"))
  expect(before[0]!.data).toMatchObject({ via: "terminal", key: "log.level", isSet: true })
  expect(before[1]!.data).toMatchObject({ agents: ["codex"], allowsTools: false })
  // Keys only: a value may be a secret.
  expect(before[2]!.data).toMatchObject({ set: ["http.enabled"] })
  process.kill(home.registration().pid, "SIGKILL")
  await home.run("setup", "codex", "--yes", "--allow-tools")
  await home.run("start")
  const after = await seen()
  expect(after.map(({ what }) => what)).toEqual(["config.set", "setup", "start", "unsetup", "setup"])
  expect(after.at(-1)!.data).toMatchObject({ allowsTools: true })
})
