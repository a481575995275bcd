import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Failure } from "../domain/failure.ts"
import { makeRoster, type TeamSetting } from "./roster.ts"

let dir: string
let settings: Record<string, TeamSetting>
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "roster-")))
  settings = {}
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const setting = (project: string, more: Partial<TeamSetting> = {}): TeamSetting => ({
  project,
  description: "",
  platform: "claude-code",
  skipPermissions: false,
  permissionMode: "default",
  whenAway: "keep",
  taskStateFile: false,
  ...more,
})
const folder = (name: string) => {
  mkdirSync(join(dir, name), { recursive: true })
  return join(dir, name)
}
const names = (teams: readonly { name: string }[]) => teams.map(({ name }) => name)

describe("who there is", () => {
  test("has the real path of its project", () => {
    symlinkSync(folder("real"), join(dir, "link"))
    settings = { web: setting(join(dir, "link")) }
    expect(makeRoster({ read: () => settings }).byName("web")?.projectDir).toBe(join(dir, "real"))
  })

  test("is found by a folder: the nearest first, two of one project both", () => {
    settings = {
      all: setting(folder("work")),
      web: setting(folder("work/web")),
      web2: setting(folder("work/web")),
      other: setting(folder("work/we")),
    }
    const roster = makeRoster({ read: () => settings })
    symlinkSync(folder("work/web/src"), join(dir, "link"))
    expect(names(roster.at(join(dir, "link")))).toEqual(["web", "web2", "all"])
    expect(names(roster.at(join(dir, "work/web-not")))).toEqual(["all"])
    expect(names(roster.at(dir))).toEqual([])
  })
})

describe("a configuration that changes", () => {
  test("is taken, and told once", () => {
    const roster = makeRoster({ read: () => settings })
    let told = 0
    const stop = roster.onChange(() => told++)
    settings = { web: setting(folder("web")) }
    roster.reload()
    roster.reload()
    expect([names(roster.list()), told]).toEqual([["web"], 1])
    stop()
    settings = {}
    roster.reload()
    expect([names(roster.list()), told]).toEqual([[], 1])
  })

  test("and is broken, leaves everybody where they were and says so until it is mended", () => {
    settings = { web: setting(folder("web")) }
    let isBroken = false
    const roster = makeRoster({
      read() {
        if (isBroken) throw new Failure("config_invalid", "teams.web.colour = 1 (config.json): is not a setting")
        return settings
      },
    })
    isBroken = true
    roster.reload()
    expect(names(roster.list())).toEqual(["web"])
    expect(roster.troubles()).toEqual([expect.stringContaining("teams.web.colour = 1 (config.json)")])
    isBroken = false
    roster.reload()
    expect(roster.troubles()).toEqual([])
  })
})

describe("a team whose folder cannot be used", () => {
  test.each([
    ["is not there", () => join(dir, "nowhere"), "there is no such folder"],
    [
      "is a file",
      () => {
        writeFileSync(join(dir, "file"), "")
        return join(dir, "file")
      },
      "it is not a folder",
    ],
  ])("because it %s is left out, by name", (_, place, why) => {
    settings = { web: setting(place()), api: setting(folder("api")) }
    const roster = makeRoster({ read: () => settings })
    expect(names(roster.list())).toEqual(["api"])
    expect(roster.troubles()).toEqual([`teams.web.project = ${JSON.stringify(place())}: ${why}`])
  })

  test.skipIf(process.getuid?.() === 0)("because it may not be read is left out (root may read everything)", () => {
    chmodSync(folder("closed"), 0)
    settings = { web: setting(join(dir, "closed")) }
    expect(makeRoster({ read: () => settings }).troubles()).toEqual([expect.stringContaining("it cannot be read")])
  })

  test("since a moment ago stays, so that its messages stay too", () => {
    settings = { web: setting(folder("web")) }
    const roster = makeRoster({ read: () => settings })
    rmSync(join(dir, "web"), { recursive: true })
    settings = { ...settings, api: setting(folder("api")) }
    roster.reload()
    expect(names(roster.list())).toEqual(["web", "api"])
    expect(roster.troubles()).toHaveLength(1)
  })

  test("a file of instructions that is not there is named, and the team is there", () => {
    settings = { web: setting(folder("web"), { claude_md: join(dir, "CLAUDE.md") }) }
    const roster = makeRoster({ read: () => settings })
    expect(names(roster.list())).toEqual(["web"])
    expect(roster.troubles()).toEqual([expect.stringContaining("teams.web.claude_md")])
  })
})

describe("where folders are named in which teams may work", () => {
  test("one that lies elsewhere is left out, also behind a link, and a folder is not its neighbour", () => {
    symlinkSync(folder("secret"), join(folder("srv"), "link"))
    symlinkSync(folder("srv"), join(dir, "allowed"))
    settings = {
      web: setting(folder("srv/web")),
      all: setting(join(dir, "srv")),
      link: setting(join(dir, "srv/link")),
      near: setting(folder("srv2")),
    }
    const roster = makeRoster({ read: () => settings, readAllowed: () => [join(dir, "allowed")] })
    expect(names(roster.list())).toEqual(["web", "all"])
    const why = `is in none of settings.allowedDirectories (${dir}/allowed); move it there, or add its folder to that list`
    expect(roster.troubles()).toEqual([
      `teams.link.project = "${dir}/srv/link": it is ${dir}/secret, which ${why}`,
      `teams.near.project = "${dir}/srv2": it ${why}`,
    ])
  })

  test("one that may not work there any more is left out, though it was there", () => {
    let allowed: string[] = []
    settings = { web: setting(folder("web")), api: setting(folder("srv/api")) }
    const roster = makeRoster({ read: () => settings, readAllowed: () => allowed })
    expect(names(roster.list())).toEqual(["web", "api"])
    allowed = [join(dir, "srv")]
    roster.reload()
    expect(names(roster.list())).toEqual(["api"])
  })

  test("and one of these is not there, that is said", () => {
    const roster = makeRoster({ read: () => settings, readAllowed: () => [join(dir, "none")] })
    expect(roster.troubles()).toEqual([
      `settings.allowedDirectories = "${dir}/none": there is no such folder, and no team may work in it`,
    ])
  })
})
