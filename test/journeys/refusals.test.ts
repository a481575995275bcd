import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"

let home: TestHome
beforeAll(async () => {
  home = makeHome()
  mkdirSync(join(home.env.HOME!, "web"))
  await home.run("start")
})
afterAll(() => home.dispose())

test("teams add takes the folder by position, as every hint says, or as a flag", async () => {
  expect(await home.run("teams", "add", "web", join(home.env.HOME!, "web"))).toMatchObject({ code: 0 })
  expect(await home.run("teams", "add", "api", "--project", join(home.env.HOME!, "web"))).toMatchObject({ code: 0 })
  expect((await home.run("teams", "add", "none")).code).toBe(2)
})

test("whatever is refused ends with a code other than 0, as text and as JSON", async () => {
  expect(await home.run("send", "web", "hello")).toMatchObject({ code: 0 })
  const refused = [
    ["send", "nobody", "hello"],
    ["send", "web", "hello"],
  ]
  for (const args of refused) {
    expect([args, (await home.run(...args)).code]).toEqual([args, 3])
    const { code, stdout } = await home.run(...args, "--json")
    expect([args, code, JSON.parse(stdout).queued]).toEqual([args, 3, false])
  }
  const { id } = (JSON.parse((await home.run("send", "api", "again", "--json")).stdout) ?? {}) as { id: string }
  expect((await home.run("queue", "cancel", id)).code).toBe(0)
  expect((await home.run("queue", "cancel", id)).code).toBe(3)
})
