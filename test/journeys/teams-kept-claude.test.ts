import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { receivedHooks } from "../fixtures/hooks.ts"
import { anthropicMessages, type ModelApi, startModelApi } from "../fixtures/model-api.ts"
import { proves } from "../promises.ts"

const SOON = { timeout: 60_000, interval: 100 }
const SLOW_MS = 240_000

interface Listed {
  teams: { name: string; state: string; kept: boolean; note?: string; attach?: string }[]
}

describe.each(CLAUDES)("a supervised team of Claude Code $version. $name", ({ name }) => {
  let home: TestHome
  let model: ModelApi
  let cwd: string
  beforeAll(async () => {
    home = makeHome()
    model = await startModelApi(anthropicMessages)
    cwd = join(home.env.HOME!, "harbour")
    mkdirSync(cwd)
    Object.assign(home.env, claudeEnv(home, model.url, cwd))
    await home.json("setup", "claude-code", "--yes")
    await home.run("start")
    writeFileSync(join(home.env.HOME!, "rules.md"), "Speak of ships.\n")
    const files = ["--claude-md", join(home.env.HOME!, "rules.md"), "--permission-mode", "plan"]
    await home.json("teams", "add", "harbour", "--project", cwd, "--program", agents.claude(name), ...files)
  })
  afterAll(async () => {
    await home.run("down", "harbour")
    await model.close()
    await home.dispose()
  })
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-S", join(home.dir, "tmux.sock"), ...args], { encoding: "utf8", stdio: "pipe" })
  const pid = () => Number(tmux("list-panes", "-a", "-F", "#{pane_pid}").trim())
  const screen = () => tmux("capture-pane", "-p", "-t", "throughline-harbour")
  const startsHeard = () => receivedHooks(home).filter(({ start }) => start !== undefined)
  const listed = async () => (await home.json<Listed>("teams")).teams[0]!

  test("asks whether the folder is trusted, and only the owner answers", { timeout: SLOW_MS }, async () => {
    const path = join(home.env.HOME!, ".claude.json")
    const seeded = readFileSync(path, "utf8")
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(seeded) as object), projects: {} }))
    const { stdout } = await home.run("up", "harbour")
    expect(stdout).toMatch(/It asks: .*trust.*\?/i)
    expect(stdout).toContain(`tmux -S ${home.dir}/tmux.sock attach -t throughline-harbour`)
    expect((await listed()).note).toMatch(/^asks: /)
    expect(startsHeard(), "no hook before it is trusted").toEqual([])
    await home.json("down", "harbour")
    writeFileSync(path, seeded)
  })

  test(`is restarted after it was killed, with the daemon or without. ${proves("teams.kept")}`, {
    timeout: SLOW_MS,
  }, async () => {
    const { stdout } = await home.run("up", "harbour")
    expect(stdout).toContain("Started a new session of harbour, supervised.")
    expect(stdout).not.toContain("It asks")
    await vi.waitFor(() => expect(startsHeard()).toHaveLength(1), SOON)
    expect(screen()).toMatch(/plan mode on/i)

    process.kill(pid(), "SIGKILL")
    await vi.waitFor(() => expect(startsHeard()).toHaveLength(2), SOON)

    await home.kill()
    process.kill(pid(), "SIGKILL")
    await home.run("start")
    await vi.waitFor(() => expect(startsHeard()).toHaveLength(3), SOON)
    expect(await listed()).toMatchObject({ state: "up", kept: true })

    tmux("send-keys", "-t", "throughline-harbour", "Ahoy", "Enter")
    await vi.waitFor(() => expect(JSON.stringify(model.requests.at(-1)?.body ?? "")).toContain("Ahoy"), SOON)
    expect(JSON.stringify(model.requests.at(-1)!.body), "its own instructions").toContain("Speak of ships.")

    const { stdout: ended } = await home.run("down", "harbour")
    expect(ended).toContain("Stopped harbour's session.")
    expect(await listed()).toMatchObject({ state: "down", kept: false })
    expect(() => pid()).toThrow()
  })
})
