import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type AskingHome, fakeProgram, makeAskingHome } from "../fixtures/asking.ts"

const TOKEN = `123456:${"aB1_".repeat(9)}`
let b: AskingHome
beforeAll(async () => {
  // No server answers there: the attempt is enough.
  const env = { THROUGHLINE_TELEGRAM_TOKEN: TOKEN, THROUGHLINE_TELEGRAM_API_ROOT: "http://127.0.0.1:9" }
  b = await makeAskingHome({ api: { program: "/nowhere" } }, { env })
  const root = b.home.env.HOME!
  const program = join(root, "telling-agent")
  writeFileSync(program, `#!/bin/sh\nenv >'${join(root, "agent.env")}'\nexec '${fakeProgram(root)}' "$@"\n`)
  chmodSync(program, 0o755)
  writeFileSync(
    join(b.home.dir, "config.json"),
    JSON.stringify({ teams: { api: { project: b.dirOf("api"), program } } }),
  )
  await b.home.run("stop")
  await b.home.run("start")
}, 240_000)
afterAll(() => b.dispose())

test("an agent does not inherit the bot's token, and the daemon that is started from within it has it", async () => {
  await b.ask("api", "<<SAY hello>>")
  const told = readFileSync(join(b.home.env.HOME!, "agent.env"), "utf8")
  expect(told).not.toContain(TOKEN)
  const named = /^THROUGHLINE_TELEGRAM_TOKEN=(.+)$/m.exec(told)![1]!
  expect(named).toBe(`@${join(b.home.dir, "secrets", "THROUGHLINE_TELEGRAM_TOKEN")}`)

  await b.home.kill()
  b.home.env.THROUGHLINE_TELEGRAM_TOKEN = named
  expect(await b.home.run("start")).toMatchObject({ code: 0 })
  const { bot } = await b.call<{ bot?: { id: string } }>("telegram.status", {})
  expect(bot?.id).toBe("123456")
}, 240_000)
