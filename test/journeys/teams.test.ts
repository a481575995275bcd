import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { proves } from "../promises.ts"

const SOON = { timeout: 60_000, interval: 100 }

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

  test("a team added to the file appears, and a broken file changes no team and is reported", async () => {
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

  test("a team's colour is shown, and nothing but a colour is taken for one", async () => {
    const add = (name: string, color: string) => home.run("teams", "add", name, ".", "--color", color)
    for (const hostile of ["red;background:url(//x)", "</style>", "#12345", "\u001b[31m", "notacolour", ""])
      expect((await add("web", hostile)).stderr, hostile).toMatch(/color = .*must be a hex colour such as #E91E63/)
    await add("web", "#E91E63")
    await add("api", "crimson")
    expect((await home.run("teams")).stdout).toMatch(/COLOR[\s\S]*web .* #E91E63 [\s\S]*api .* #dc143c /)
    const { teams } = await home.json<{ teams: { name: string; color?: string }[] }>("teams", "status")
    expect(teams).toMatchObject([
      { name: "web", color: "#E91E63" },
      { name: "api", color: "#dc143c" },
    ])
  })

  test("by commands: add, list both ways, import, remove; errors are explained", async () => {
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
    const why = `settings.allowedDirectories (${root}/srv); move it there, or add its folder to that list`
    const { troubles } = await home.json<Listed>("teams")
    expect(troubles.join()).toContain(`teams.web.project = "${root}/web": it is in none of ${why}`)
    expect((await home.run("doctor")).stdout).toContain(`teams.web.project = "${root}/web"`)
    expect((await home.run("ask", "web", "hello")).stderr).toContain('no team "web"')

    const linked = await home.run("teams", "add", "sly", "--project", join(root, "srv/link"))
    expect([linked.code, linked.stderr]).toEqual([2, expect.stringContaining(`it is ${root}/web, which is in none`)])
    writeFileSync(join(root, "map.json"), JSON.stringify({ lab: { workdir: `${root}/web` } }))
    const imported = await home.run("teams", "import", "map.json")
    expect(imported.stdout).toMatch(/0 added[\s\S]*is in none of settings.allowedDirectories/)
    await home.run("stop")
    await home.run("start")
    expect(await names()).toEqual(["api"])
  })
})
