import { execFile } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ask, BIN, type CliAnswer, dashboardAddress, keyOf, makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect } from "../fixtures/mcp.ts"

let home: TestHome
let project: string
let trap: string
beforeAll(async () => {
  home = makeHome()
  project = join(home.env.HOME!, "project")
  mkdirSync(project)
  // A program that leaves a trace when it is started.
  trap = join(home.env.HOME!, "trap.sh")
  writeFileSync(trap, `#!/bin/sh\ntouch ${join(home.env.HOME!, "ran")}\nsleep 1\n`)
  chmodSync(trap, 0o700)
  await home.run("start")
}, 240_000)
afterAll(() => home?.dispose())

const config = () =>
  existsSync(join(home.dir, "config.json")) ? readFileSync(join(home.dir, "config.json"), "utf8") : ""
const audit = async () =>
  (await home.json<{ entries: { who: string; what: string; data: Record<string, unknown> }[] }>("audit")).entries

/** Runs a line in a shell, with the program as "$TL". */
const shell = (line: string, env: Record<string, string> = {}, program = "/bin/sh") =>
  new Promise<CliAnswer>((resolve) => {
    const vars = { ...home.env, TL: `${process.execPath} ${BIN}`, ...env }
    execFile(program, ["-c", line], { env: vars, cwd: project }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })

const ADD = "teams add evil --project . --skip-permissions"
/** Some of the owner's commands, as typed; src/operations/access.test.ts has every operation. */
const OWNERS = [
  ADD,
  "up web",
  "forget --containing secret --yes",
  "dashboard --no-open",
  "dashboard --json",
  "telegram setup --token 1:x --yes",
  "service install --yes",
  "start --set http.port=1",
]

describe("in an agent's shell", () => {
  test.each(OWNERS)("`throughline %s` is refused, with what to do instead", async (line) => {
    const before = config()
    const { code, stdout, stderr } = await shell(`$TL ${line}`, { CLAUDECODE: "1" })
    expect([code, stdout.includes("#token=")]).toEqual([4, false])
    expect(stderr + stdout).toMatch(/for the owner only.*claude-code/s)
    expect(stderr + stdout).toMatch(/in a terminal that no agent started or in the dashboard/)
    expect(config()).toBe(before)
  })

  test("an agent that unsets the variable is still known by the shell it was given", async () => {
    const line = `env -u CLAUDECODE $TL ${ADD}; exit $?`
    const { code, stderr } = await shell(line, { CLAUDECODE: "1" })
    expect([code, stderr]).toEqual([4, expect.stringContaining("claude-code")])
    expect((await shell(`env -u CLAUDECODE $TL dashboard --no-open; exit $?`, { CLAUDECODE: "1" })).stdout).toBe("")
  })

  test("an agent without a variable is known by its program's name", async () => {
    const aider = join(home.env.HOME!, "aider")
    writeFileSync(aider, `#!/bin/sh\n$TL ${ADD}\nexit $?\n`)
    chmodSync(aider, 0o700)
    const { code, stderr } = await shell(`${aider}; exit $?`)
    expect([code, stderr]).toEqual([4, expect.stringContaining("aider")])
  })

  test.each([
    ["qwen", "--max-old-space-size=4096 --no-warnings", "qwen-code"],
    ["copilot.js", "--import data:text/javascript,", "copilot-cli"],
    ["kilo", "--no-warnings", "kilo"],
    ["claude", "-r node:fs --", "claude-code"],
  ])("nor is %s behind options of its interpreter (%s) taken for a person", async (name, options, agent) => {
    const script = join(home.env.HOME!, name)
    const line = JSON.stringify(`$TL ${ADD}; exit $?`)
    const run = `require("node:child_process").spawnSync("sh", ["-c", ${line}], { stdio: "inherit" }).status`
    writeFileSync(script, `process.exitCode = ${run}\n`)
    const { code, stderr } = await shell(`${process.execPath} ${options} ${script}; exit $?`)
    expect([code, stderr]).toEqual([4, expect.stringContaining(agent)])
  })

  test("what agents may do works as before", async () => {
    expect((await shell("$TL sessions", { CLAUDECODE: "1" })).code).toBe(0)
    expect((await shell("$TL queue", { CLAUDECODE: "1" })).code).toBe(0)
    expect((await shell("$TL doctor", { CLAUDECODE: "1" })).stderr).toBe("")
  })
})

describe("with the token alone", () => {
  const post = async (name: string, input: object, headers: Record<string, string> = {}) => {
    const answer = await ask(home, { path: `/api/${name}`, body: JSON.stringify(input), headers })
    return answer.json<{ error?: { code: string } }>().error?.code ?? "answered"
  }

  test("no agent adds a team, starts a program, widens permissions, deletes data or gets a key", async () => {
    const before = config()
    const team = { name: "evil", project, program: trap, skipPermissions: true, replace: true }
    const claims = { surface: "cli", isOwner: true, client: { name: "the owner", version: "1" } }
    const claimed = { "throughline-caller": encodeURIComponent(JSON.stringify(claims)) }
    for (const headers of [{}, claimed]) {
      expect(await post("teams.add", team, headers)).toBe("person_needed")
      expect(await post("up", { team: "evil" }, headers)).toBe("person_needed")
      expect(await post("config.set", { key: "http.port", value: "1" }, headers)).toBe("person_needed")
      expect(await post("forget", { root: project }, headers)).toBe("person_needed")
      expect(await post("dashboard.key", {}, headers)).toBe("person_needed")
      expect(await post("thought", { thought: "x", nextThoughtNeeded: false }, headers)).toBe("not_allowed")
    }
    expect(config()).toBe(before)
    expect(existsSync(join(home.env.HOME!, "ran"))).toBe(false)
  })

  test("nor over MCP, where those tools do not exist", async () => {
    for (const transport of ["http", "stdio"] as const) {
      const agent = await connect(home, { transport })
      expect(await agent.refused("teams.add", { name: "evil", project })).toMatch(/^unknown_operation/)
      expect(await agent.refused("dashboard.key", {})).toMatch(/^unknown_operation/)
      await agent.close()
    }
  })
})

test("at the socket, claiming to be the owner does not make a caller the owner", async () => {
  const caller = encodeURIComponent(JSON.stringify({ surface: "cli", cwd: "/" }))
  for (const proof of ["", `${Date.now()}.AAAA`, home.token()]) {
    const headers = { "throughline-caller": caller, "throughline-owner": proof }
    const answer = await ask(home, { path: "/api/dashboard.key", body: "{}", socket: true, headers })
    expect([answer.status, answer.json<{ error: { code: string } }>().error.code]).toEqual([403, "person_needed"])
  }
})

test("the owner does all of it, at a terminal and at the dashboard, and the audit has a row for each", async () => {
  await home.json("teams", "add", "web", "--project", project, "--skip-permissions")
  await home.json("forget", "--containing", "hunter2", "--yes")
  const key = keyOf(await dashboardAddress(home))
  const owner = { authorization: `Bearer ${key}` }
  const post = (name: string, input: object) =>
    ask(home, { path: `/api/${name}`, body: JSON.stringify(input), headers: owner })
  expect(
    (await post("config.set", { key: "telegram.token", value: `123456789:${"very-secret".padEnd(35, "x")}` })).status,
  ).toBe(200)
  expect((await post("config.set", { key: "telegram.token", value: "" })).status).toBe(200)
  expect((await post("teams.remove", { name: "web" })).status).toBe(200)
  const rows = await audit()
  expect(rows.map(({ who, what, data }) => [who, what, data.via])).toEqual([
    ["the owner", "teams.remove", "dashboard"],
    ["the owner", "config.set", "dashboard"],
    ["the owner", "config.set", "dashboard"],
    ["the owner", "dashboard.key", "terminal"],
    ["the owner", "forget", "terminal"],
    ["the owner", "teams.add", "terminal"],
  ])
  expect(rows[5]!.data).toMatchObject({ name: "web", skipPermissions: true })
  expect(JSON.stringify(rows)).not.toMatch(/very-secret|hunter2/)
  expect((await home.run("audit")).stdout).toMatch(/teams\.add .*skipPermissions: true/)
})

test("an agent cancels its own message, and none of the owner's", async () => {
  expect((await shell(`$TL teams add mail --project ${project}`)).code).toBe(0)
  const send = async (text: string, env = {}) => {
    const { stdout } = await shell(`$TL send mail "${text}" --json`, env)
    return (JSON.parse(stdout) as { id: string }).id
  }
  const inShell = { CLAUDECODE: "1" }
  const [owners, agents] = [await send("from me"), await send("from an agent", inShell)]
  const refused = await shell(`$TL queue cancel ${owners}`, inShell)
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("the owner's own message")])
  expect((await shell(`$TL queue cancel ${agents}`, inShell)).code).toBe(0)
  expect((await shell(`$TL queue cancel ${owners}`)).code).toBe(0)
})
