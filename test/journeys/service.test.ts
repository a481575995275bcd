import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { readEnvironment } from "../../src/daemon/process/environment.ts"
import { homeAt } from "../../src/daemon/process/home.ts"
import { makeService } from "../../src/daemon/process/service.ts"
import { BIN, makeHome, type TestHome } from "../fixtures/daemon.ts"
import { type ServiceManagers, serviceManagers } from "../fixtures/service-managers.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"

let home: TestHome
let managers: ServiceManagers
beforeEach(() => {
  home = makeHome()
  managers = serviceManagers(home.env.HOME!)
  managers.setLinger(true)
  home.env.PATH = `${managers.bin}:${home.env.PATH}`
  // A port of its own, also for a daemon that is started without this environment.
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  writeFileSync(join(home.dir, "config.json"), '{ "http": { "enabled": false } }', { mode: 0o600 })
})
afterEach(async () => {
  await home.dispose()
  managers.end()
})

interface Change {
  path: string
  text?: string
  changed: boolean
  applied?: boolean
  commands: string[]
  reachable: boolean
  running: boolean
  notes: string[]
}

describe("with systemd", () => {
  test("install shows the unit, writes it, and the daemon is started by it; twice changes nothing; uninstall takes it back", async () => {
    await home.run("start")
    const before = home.registration().pid
    const plan = await home.json<Change>("service", "install")
    expect(plan).toMatchObject({ changed: true, applied: false })
    expect(existsSync(plan.path)).toBe(false)
    expect((await home.run("service", "install")).stderr).toContain("Add --yes")
    expect((await home.run("service", "status")).stdout).toContain("not installed")
    managers.calls()

    const { code, stdout } = await home.run("service", "install", "--yes")
    expect(code).toBe(0)
    expect(stdout).toContain(`    ExecStart=${process.execPath} `)
    expect(stdout).toContain("The daemon is running and starts whenever you log in.")
    const text = readFileSync(plan.path, "utf8")
    expect(text).toBe(plan.text)
    expect(plan.path).toMatch(/\.config\/systemd\/user\/throughline-[0-9a-f]{8}\.service$/)
    expect(statSync(plan.path).mode & 0o777).toBe(0o600)
    for (const line of ["Restart=on-failure", "KillMode=process", `Environment="THROUGHLINE_HOME=${home.dir}"`])
      expect(text.split("\n")).toContain(line)
    expect(text).toContain(`${BIN} daemon`)
    const unit = plan.path.split("/").at(-1)!
    const words = managers.calls().filter((call) => !/show-environment|is-active|loginctl/.test(call))
    expect(words).toEqual(
      ["daemon-reload", `enable ${unit}`, `restart ${unit}`].map((word) => `systemctl --user ${word}`),
    )
    const { pid } = home.registration()
    expect(pid).not.toBe(before)
    expect((await home.run("service", "status")).stdout).toMatch(/file {3}.*service\nstate {2}running/)

    const again = await home.json<Change>("service", "install", "--yes")
    expect(again).toMatchObject({ changed: false, running: true })
    expect(home.registration().pid).toBe(pid)
    expect(managers.calls().join("\n")).not.toContain("restart")

    const neighbour = join(dirname(plan.path), "mine.service")
    writeFileSync(neighbour, "[Unit]\n")
    expect(await home.json<Change>("service", "uninstall", "--yes")).toMatchObject({ changed: true, running: false })
    expect(existsSync(plan.path)).toBe(false)
    expect(existsSync(neighbour)).toBe(true)
    expect(managers.calls().filter((call) => /disable|reload/.test(call))).toHaveLength(2)
    expect(await home.json<Change>("service", "uninstall", "--yes")).toMatchObject({ changed: false })
  }, 240_000)

  test("without systemd running, the unit is written and the commands are printed", async () => {
    managers.setDown(true)
    const { code, stdout } = await home.run("service", "install", "--yes")
    expect(code).toBe(0)
    expect(stdout).toMatch(/does not answer here.*\n {2}systemctl --user daemon-reload\n {2}systemctl --user enable /)
    expect((await home.run("service", "status")).stdout).toContain("systemd does not answer here")
    expect((await home.run("service", "uninstall", "--yes")).stdout).toMatch(/^Removed /)
  })

  test("reports that it ends with the login, and how to change that", async () => {
    managers.setLinger(false)
    const { notes } = await home.json<Change>("service", "install", "--yes")
    expect(notes).toEqual([expect.stringContaining("loginctl enable-linger")])
  })

  test("a file of somebody else's is neither overwritten nor removed", async () => {
    const { path } = await home.json<Change>("service", "install")
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, "[Service]\nExecStart=/bin/true\n")
    for (const word of ["install", "uninstall"])
      expect(await home.run("service", word, "--yes")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("was not written by Throughline"),
      })
    expect(readFileSync(path, "utf8")).toBe("[Service]\nExecStart=/bin/true\n")
  })

  test("shows systemctl's own error", async () => {
    writeFileSync(
      join(managers.bin, "systemctl"),
      '#!/bin/sh\ncase "$2" in enable) echo "no such thing" >&2; exit 4;; is-active) exit 3;; esac\n',
    )
    const { code, stderr } = await home.run("service", "install", "--yes")
    expect([code, stderr]).toEqual([
      6,
      expect.stringMatching(/`systemctl --user enable .*` ended with 4: no such thing/),
    ])
  })

  const analyze = "/usr/bin/systemd-analyze"
  test.skipIf(!existsSync(analyze))(
    "systemd itself takes the unit as it is, also with odd characters in a path",
    async () => {
      home.env.PATH = `${home.env.PATH}:/opt/a b/100%/$x"y\\z`
      managers.setDown(true)
      await home.run("service", "install", "--yes")
      const { path } = await home.json<Change>("service", "status")
      const env = { ...home.env, XDG_RUNTIME_DIR: home.env.HOME! }
      const verified = spawnSync(analyze, ["--user", "verify", path], { env, encoding: "utf8" })
      expect(verified).toMatchObject({ status: 0, stdout: "", stderr: "" })
      expect(readFileSync(path, "utf8")).toContain('/opt/a b/100%%/$x\\"y\\\\z"')
    },
  )
})

test("telegram setup leaves the daemon to its service manager", async () => {
  const telegram = await startTelegram({ limits: false })
  const group = telegram.group("Work")
  writeFileSync(
    join(home.dir, "config.json"),
    JSON.stringify({ http: { enabled: false }, telegram: { apiRoot: telegram.apiRoot } }),
  )
  await home.json("service", "install", "--yes")
  const { pid } = home.registration()
  managers.calls()
  await home.json("telegram", "setup", "--token", telegram.token, "--chat", String(group.id))
  expect(managers.calls().filter((call) => call.includes("restart"))).toHaveLength(1)
  expect(home.registration().pid).not.toBe(pid)
  expect(await home.json("service", "status")).toMatchObject({ isActive: true })
  await telegram.close()
}, 240_000)

test("with launchd: the agent is written, started with its environment, replaced when it changes, and removed", async () => {
  const homeDir = home.env.HOME!
  const environment = (env: Record<string, string>) => ({
    ...readEnvironment({ ...home.env, ...env }),
    homeDir,
    machine: { os: "darwin" as const, homeDir, env: { ...home.env, ...env } },
  })
  const at = homeAt(home.dir, readEnvironment().tempDir)
  const service = makeService(at, environment({}))
  const { path, text } = service.plan()
  expect(path).toMatch(/Library\/LaunchAgents\/dev\.throughline-[0-9a-f]{8}\.plist$/)
  for (const part of ["<key>RunAtLoad</key>\n  <true/>", "<key>AbandonProcessGroup</key>\n  <true/>", "SuccessfulExit"])
    expect(text).toContain(part)
  expect(await service.install()).toMatchObject({ isChanged: true, isReachable: true, isRunning: true, notes: [] })
  const { pid } = home.registration()
  const label = `gui/${process.getuid!()}/${path.split("/").at(-1)!.replace(".plist", "")}`
  const words = managers.calls().filter((call) => !call.includes("print"))
  expect(words).toEqual(
    [`bootout ${label}`, `enable ${label}`, `bootstrap gui/${process.getuid!()} ${path}`, `kickstart -k ${label}`].map(
      (word) => `launchctl ${word}`,
    ),
  )
  expect(await service.install()).toMatchObject({ isChanged: false, isRunning: true })
  expect(home.registration().pid).toBe(pid)
  expect(await service.state()).toMatchObject({ manager: "launchd", file: "there", isActive: true })

  const other = makeService(at, environment({ LANG: "C.UTF-8", HTTPS_PROXY: "http://a&b<c>" }))
  expect(await other.state()).toMatchObject({ file: "other" })
  expect(await other.install()).toMatchObject({ isChanged: true, isRunning: true })
  expect(readFileSync(path, "utf8")).toContain("<string>http://a&amp;b&lt;c&gt;</string>")
  expect(home.registration().pid).not.toBe(pid)
  expect(await other.uninstall()).toMatchObject({ isChanged: true })
  expect(existsSync(path)).toBe(false)
}, 240_000)
