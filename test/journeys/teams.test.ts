import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { receivedHooks } from "../fixtures/hooks.ts"
import { anthropicMessages, type ModelApi, startModelApi } from "../fixtures/model-api.ts"
import { proves } from "../promises.ts"

const SOON = { timeout: 15_000, interval: 100 }
const SLOW_MS = 60_000

interface Listed {
  teams: { name: string; state: string; kept: boolean; note?: string; attach?: string }[]
  troubles: string[]
}

describe(`the configuration is changed while the daemon runs. ${proves("teams.hot")}`, () => {
  let home: TestHome
  let config: string
  beforeEach(async () => {
    home = makeHome()
    await home.run("start")
    config = join(home.dir, "config.json")
    mkdirSync(join(home.env.HOME!, "web"))
  })
  afterEach(() => home.dispose())
  const names = async () => (await home.json<Listed>("teams")).teams.map(({ name }) => name)

  test("a team that somebody writes into it is there, and a broken file changes nobody and is named", async () => {
    writeFileSync(config, `{ "teams": { "web": { "project": "${home.env.HOME}/web" } } }`)
    await vi.waitFor(async () => expect(await names()).toEqual(["web"]), SOON)
    writeFileSync(config, `{ "teams": { "web": { "projcet": "${home.env.HOME}/web" } } }`)
    await vi.waitFor(async () => {
      const { notices } = await home.json<{ notices: string[] }>("status")
      expect(notices.join()).toContain("teams.web.projcet")
    }, SOON)
    expect(await names()).toEqual(["web"])
    const { code, stdout } = await home.run("doctor")
    expect([code, stdout]).toEqual([1, expect.stringContaining("teams.web.projcet")])
    writeFileSync(config, "{}")
    await vi.waitFor(async () => expect(await names()).toEqual([]), SOON)
  })

  test("by commands: add, list both ways, import, remove; and what is wrong is said", async () => {
    expect((await home.run("teams")).stdout).toContain("No teams yet")
    const added = await home.run(
      "teams",
      "add",
      "web",
      "--project",
      "web",
      "--description",
      "Front",
      "--when-away",
      "resume",
    )
    expect(added.stdout).toContain(`web works in ${home.env.HOME}/web (claude-code)`)
    expect((await home.run("teams", "list")).stdout).toBe((await home.run("teams")).stdout)
    expect(JSON.parse(readFileSync(config, "utf8"))).toEqual({
      teams: { web: { project: `${home.env.HOME}/web`, description: "Front", whenAway: "resume" } },
    })
    writeFileSync(
      join(home.env.HOME!, "map.json"),
      JSON.stringify({ lab: { workdir: `${home.env.HOME}/web`, chat_id: "7" } }),
    )
    expect((await home.run("teams", "import", "map.json")).stdout).toContain(
      "Nexus chat map: 1 added (lab), 0 replaced.",
    )
    expect((await home.run("config")).stdout).toContain("teams.lab")
    const refused = await home.run("teams", "remove", "lab")
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--yes")])
    await home.json("teams", "remove", "lab", "--yes")
    expect(await names()).toEqual(["web"])
    const nowhere = await home.run("teams", "add", "x", "--project", "/nowhere")
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('project = "/nowhere"')])
    expect((await home.run("up", "nobody")).stderr).toContain('no team "nobody"')
  })

  test("a project outside of the folders that are allowed is refused, however it comes", async () => {
    const root = home.env.HOME!
    for (const name of ["srv", "srv/api"]) mkdirSync(join(root, name))
    symlinkSync(join(root, "web"), join(root, "srv", "link"))
    const settings = { allowedDirectories: [join(root, "srv")] }
    const projects = { api: { project: join(root, "srv/api") }, web: { project: join(root, "web") } }
    writeFileSync(config, JSON.stringify({ teams: projects }))
    await vi.waitFor(async () => expect(await names()).toEqual(["api", "web"]), SOON)
    writeFileSync(config, JSON.stringify({ settings, teams: projects }))
    await vi.waitFor(async () => expect(await names()).toEqual(["api"]), SOON)
    const why = `settings.allowedDirectories (${root}/srv); move it there, or name its folder there`
    const { troubles } = await home.json<Listed>("teams")
    expect(troubles.join()).toContain(`teams.web.project = "${root}/web": it lies in none of ${why}`)
    expect((await home.run("doctor")).stdout).toContain(`teams.web.project = "${root}/web"`)
    expect((await home.run("ask", "web", "hello")).stderr).toContain('no team "web"')

    const linked = await home.run("teams", "add", "sly", "--project", join(root, "srv/link"))
    expect([linked.code, linked.stderr]).toEqual([2, expect.stringContaining(`it is ${root}/web, which lies in none`)])
    writeFileSync(join(root, "map.json"), JSON.stringify({ lab: { workdir: `${root}/web` } }))
    const imported = await home.run("teams", "import", "map.json")
    expect(imported.stdout).toMatch(/0 added[\s\S]*lies in none of settings.allowedDirectories/)
    await home.run("stop")
    await home.run("start")
    expect(await names()).toEqual(["api"])
  })
})

describe.each(CLAUDES)("a team of Claude Code $version that is kept up. $name", ({ name }) => {
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

  test("asks whether the folder is trusted, and nobody answers for the owner", { timeout: SLOW_MS }, async () => {
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

  test(`is there again after it was killed, with the daemon or without. ${proves("teams.kept")}`, {
    timeout: SLOW_MS,
  }, async () => {
    const { stdout } = await home.run("up", "harbour")
    expect(stdout).toContain("harbour has a new session, and is kept up.")
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
    expect(ended).toContain("harbour's session is ended.")
    expect(await listed()).toMatchObject({ state: "down", kept: false })
    expect(() => pid()).toThrow()
  })
})
