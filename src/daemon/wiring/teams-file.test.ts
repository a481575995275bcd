import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeRoster } from "../../teams/roster.ts"
import { makeRosterModule, type RosterModule } from "../../teams/roster-module.ts"
import { loadConfig } from "../config/config.ts"
import { teamsFile } from "./teams-file.ts"

let dir: string
let path: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "teams-file-")))
  path = join(dir, "config.json")
  for (const name of ["web", "api", "homelab"]) mkdirSync(join(dir, name))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function module(): RosterModule {
  const read = () => loadConfig({ path, environment: {}, flags: [] }).config.teams
  return makeRosterModule({ roster: makeRoster({ read }), file: teamsFile(path, read) })
}
const caller = () => ({ surface: "cli", cwd: dir }) as const
const text = () => readFileSync(path, "utf8")
const names = (teams: RosterModule) => teams.roster.list().map(({ name }) => name)
const put = (name: string, value: unknown) => {
  writeFileSync(join(dir, name), typeof value === "string" ? value : JSON.stringify(value))
  return name
}

const WRITTEN = `// mine
{
  "http": { "port": 5000 }, // busy
  "teams": {
    // the front
    "api": { "project": "DIR/api" }, // keep
  },
}
`

describe("a team that is added", () => {
  test("is there at once, and everything else in the file stays as it is", () => {
    writeFileSync(path, WRITTEN.replace("DIR", dir))
    chmodSync(path, 0o640)
    const teams = module()
    teams.add(caller(), "web", { project: "web", description: "Front" }, { replace: false })
    expect(names(teams)).toEqual(["api", "web"])
    expect(teams.roster.byName("web")).toMatchObject({ projectDir: join(dir, "web"), description: "Front" })
    for (const part of ["// mine", "// busy", "// the front", "// keep", `"project": "${dir}/web"`])
      expect(text()).toContain(part)
    expect(statSync(path).mode & 0o777).toBe(0o640)
    teams.remove("web")
    expect(text()).toBe(WRITTEN.replace("DIR", dir))
  })

  test("makes the file where there is none, for its owner only", () => {
    const teams = module()
    teams.add(caller(), "web", { project: join(dir, "web") }, { replace: false })
    expect(JSON.parse(text())).toEqual({ teams: { web: { project: join(dir, "web") } } })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test("takes another's place only when that is said", () => {
    const teams = module()
    teams.add(caller(), "web", { project: "web", color: "red" }, { replace: false })
    expect(() => teams.add(caller(), "web", { project: "api" }, { replace: false })).toThrow(/already; --replace/)
    teams.add(caller(), "web", { project: "api" }, { replace: true })
    expect(teams.roster.byName("web")).toMatchObject({ projectDir: join(dir, "api"), color: null })
  })

  test.each<[string, string, Record<string, unknown>, RegExp]>([
    ["a folder that is not there", "web", { project: "/nowhere" }, /project = "\/nowhere": there is no such folder/],
    ["a wrong name", "a b", { project: "web" }, /"a b" is not a valid name/],
    ["an unknown agent", "web", { project: "web", platform: "emacs" }, /platform = "emacs": must be one of/],
  ])("is refused with %s, and nothing is written", (_, name, keys, message) => {
    expect(() => module().add(caller(), name, keys as { project: string }, { replace: false })).toThrow(message)
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
  })

  test.each([
    ["malformed", '{ "teams": { "web" } }', /config\.json:1:\d+/],
    ["wrong elsewhere", '{ "http": { "prot": 1 } }', /http\.prot/],
  ])("leaves a file alone that is %s, and says where", (_, broken, message) => {
    writeFileSync(path, "{}")
    const teams = module()
    writeFileSync(path, broken)
    expect(() => teams.add(caller(), "web", { project: "web" }, { replace: false })).toThrow(message)
    expect(() =>
      teams.take(caller(), put("map.json", { web: { workdir: join(dir, "web") } }), { replace: false }),
    ).toThrow(message)
    expect(() => teams.remove("web")).toThrow(message)
    expect(text()).toBe(broken)
  })
})

describe("the teams of another program", () => {
  test("a Nexus chat map is taken as it is", () => {
    const teams = module()
    const file = put("chats.json", {
      homelab: {
        chat_id: "",
        workdir: join(dir, "homelab"),
        claude_md: join(dir, "homelab/CLAUDE.md"),
        session_file: join(dir, "homelab/.claude-session"),
      },
      felt: { chat_id: "-100", workdir: join(dir, "felt") },
      web: { chat_id: -100123, workdir: join(dir, "web"), skills: "x" },
    })
    expect(teams.take(caller(), file, { replace: false })).toEqual({
      from: "Nexus chat map",
      added: ["homelab", "web"],
      replaced: [],
      settings: [],
      skipped: [
        { what: "felt", why: expect.stringContaining("no such folder") },
        { what: "web.skills", why: "Throughline has no such setting" },
      ],
    })
    expect(teams.roster.byName("homelab")).toMatchObject({
      projectDir: join(dir, "homelab"),
      instructionsFile: join(dir, "homelab/CLAUDE.md"),
      sessionFile: join(dir, "homelab/.claude-session"),
      chat: null,
    })
    expect(teams.roster.byName("web")?.chat).toEqual({ id: "-100123", thread: null, users: [] })
  })

  test("an Iris teams.json is taken with the settings that there are here too", () => {
    const teams = module()
    const file = put(
      "teams.json",
      `{ "settings": { "idleTimeout": 300000, "maxProcesses": 4, "healthCheckInterval": 15000, "httpPort": 1615, "constructor": 1 },
         "teams": {
           "web": { "project": "${dir}/web", "path": "/old", "description": "Front", "skipPermissions": true, "color": "#E91E63" }, // both
           "api": { "path": "${dir}/api", "idleTimeout": 5000, "grantPermission": "ask", "remote": "ssh x" },
           "homelab": { "project": "${dir}/homelab", "grantPermission": "yes", "claudePath": "/opt/claude" },
           "locked": { "project": "${dir}/web", "grantPermission": "no" },
           "asking": { "project": "${dir}/web", "grantPermission": "forward" },
         }, "dashboard": {} }`,
    )
    expect(teams.take(caller(), file, { replace: false })).toEqual({
      from: "Iris teams.json",
      added: ["web", "api", "homelab", "locked", "asking"],
      replaced: [],
      settings: [
        { what: "settings.idleTimeout", key: "teams.*.idleTimeout", value: 300_000 },
        { what: "settings.maxProcesses", key: "settings.maxProcesses", value: 4 },
        { what: "settings.healthCheckInterval", key: "settings.healthCheckInterval", value: 15_000 },
      ],
      skipped: [
        { what: "dashboard", why: "Throughline has no such setting" },
        { what: "settings.httpPort", why: expect.stringContaining("--set http.port=") },
        { what: "settings.constructor", why: "Throughline has no such setting" },
        { what: "api.remote", why: "Throughline has no such setting" },
        { what: "asking.grantPermission", why: 'Throughline has nothing like "forward"' },
      ],
    })
    expect(loadConfig({ path, environment: {}, flags: [] }).config.settings).toMatchObject({
      idleTimeout: 3_600_000,
      maxProcesses: 4,
      healthCheckInterval: 15_000,
    })
    expect(teams.roster.byName("web")).toMatchObject({
      skipPermissions: true,
      permissionMode: "bypassPermissions",
      idleTimeoutMs: 300_000,
      color: "#E91E63",
    })
    expect(teams.roster.byName("api")?.idleTimeoutMs).toBe(5_000)
    expect(teams.roster.byName("homelab")).toMatchObject({ skipPermissions: true, program: "/opt/claude" })
    expect(teams.roster.byName("locked")?.permissionMode).toBe("dontAsk")
    expect(teams.take(caller(), file, { replace: true }).settings).toHaveLength(3)
  })

  test("change no setting that is there, unless that is said, and none to what is no value of it", () => {
    writeFileSync(path, '{ "settings": { "maxProcesses": 2, /* mine */ "prestart": 1 } }')
    const teams = module()
    const file = put("teams.json", {
      settings: { maxProcesses: 4, healthCheckInterval: "often" },
      teams: { web: { project: join(dir, "web") } },
    })
    const { settings, skipped } = teams.take(caller(), file, { replace: false })
    expect([settings, skipped]).toEqual([
      [],
      [
        { what: "settings.maxProcesses", why: "settings.maxProcesses is 2 already; --replace takes its place" },
        { what: "settings.healthCheckInterval", why: expect.stringMatching(/^"often": .*number/) },
      ],
    ])
    expect(teams.take(caller(), file, { replace: true }).settings).toMatchObject([{ value: 4 }])
    expect(text()).toContain('"maxProcesses": 4, /* mine */ "prestart": 1')
  })

  test("do not take the place of those that are there, unless that is said", () => {
    const teams = module()
    teams.add(caller(), "web", { project: "api" }, { replace: false })
    const file = put("chats.json", { web: { workdir: join(dir, "web") } })
    expect(teams.take(caller(), file, { replace: false })).toMatchObject({ added: [], skipped: [{ what: "web" }] })
    expect(teams.roster.byName("web")?.projectDir).toBe(join(dir, "api"))
    expect(teams.take(caller(), file, { replace: true })).toMatchObject({ replaced: ["web"], skipped: [] })
    expect(teams.roster.byName("web")?.projectDir).toBe(join(dir, "web"))
  })

  test.each<[string, unknown, RegExp]>([
    ["is not JSON", "teams:\n  web: x", /x\.json:1:1/],
    [
      "is another thing",
      { web: { folder: "/x" } },
      /neither a Nexus chat map nor an Iris teams\.json: "web" has no workdir/,
    ],
    ["is a list", [1], /must hold an object/],
    ["is empty", {}, /it is empty/],
  ])("in a file that %s are refused", (_, value, message) => {
    const file = put("x.json", value)
    expect(() => module().take(caller(), file, { replace: false })).toThrow(message)
  })

  test("in a file that is not there are refused", () => {
    expect(() => module().take(caller(), "none.json", { replace: false })).toThrow(`there is no file ${dir}/none.json`)
  })
})
