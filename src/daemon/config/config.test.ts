import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { proves } from "../../../test/promises.ts"
import { Failure } from "../../domain/failure.ts"
import { environmentName, loadConfig } from "./config.ts"

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-config-"))
  path = join(folder, "config.json")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Given {
  file?: string
  environment?: Record<string, string>
  flags?: string[]
}

function load({ file, environment = {}, flags = [] }: Given) {
  if (file !== undefined) writeFileSync(path, file)
  return loadConfig({ path, environment, flags })
}

function refusal(given: Given): string {
  try {
    load(given)
  } catch (error) {
    if (error instanceof Failure && error.code === "config_invalid") return error.message
    throw error
  }
  throw new Error("nothing was refused")
}

describe("a secret in a file that the environment names", () => {
  test("is read from there", () => {
    writeFileSync(join(folder, "token"), `123456:${"a".repeat(30)}\n`)
    const { config, settings } = load({ environment: { THROUGHLINE_TELEGRAM_TOKEN: `@${join(folder, "token")}` } })
    expect(config.telegram.token).toBe(`123456:${"a".repeat(30)}`)
    const found = settings.find(({ key }) => key === "telegram.token")
    expect(found).toMatchObject({ source: "environment THROUGHLINE_TELEGRAM_TOKEN", secret: true })
  })

  test("that is not there is told, and what is no secret is no path", () => {
    const named = `@${join(folder, "none")}`
    expect(refusal({ environment: { THROUGHLINE_TELEGRAM_TOKEN: named } })).toMatch(/names an unreadable file/)
    const environment = { THROUGHLINE_HTTP_HOST: named, THROUGHLINE_HTTP_BEHIND_TLS: "true" }
    expect(load({ environment }).config.http.host).toBe(named)
  })
})

describe("where a setting comes from", () => {
  const sourceOf = (given: Given) => {
    const { config, settings } = load(given)
    return [config.http.port, settings.find((setting) => setting.key === "http.port")?.source]
  }
  const file = '{ "http": { "port": 1001 } }'
  const environment = { THROUGHLINE_HTTP_PORT: "1002" }

  test("the default, when nobody says anything", () => {
    expect(sourceOf({})).toEqual([4747, "default"])
  })

  test("the file, over the default", () => {
    expect(sourceOf({ file })).toEqual([1001, path])
  })

  test("the environment, over the file", () => {
    expect(sourceOf({ file, environment })).toEqual([1002, "environment THROUGHLINE_HTTP_PORT"])
  })

  test("a flag, over all", () => {
    expect(sourceOf({ file, environment, flags: ["http.port=1003"] })).toEqual([1003, "--set"])
    expect(sourceOf({ flags: ["http.port=1", "http.port=2"] })).toEqual([2, "--set"])
  })

  test("settings beside it are left alone", () => {
    const { config } = load({
      file: '{ "http": { "port": 1, "enabled": false }, "log": { "level": "warn" } }',
      environment,
    })
    expect(config).toMatchObject({ http: { port: 1002, enabled: false, host: "127.0.0.1" }, log: { level: "warn" } })
  })
})

describe("the file", () => {
  test("may hold comments and trailing commas", () => {
    const file = '// why\n{\n  "http": { /* busy */ "port": 5000, },\n}\n'
    expect(load({ file }).config.http.port).toBe(5000)
  })

  test("may be empty", () => {
    expect(load({ file: "" }).config).toEqual(load({ file: "{}" }).config)
  })

  test("that cannot be read is refused with line and column", () => {
    expect(refusal({ file: '{\n  "http": { "port" 5000 }\n}' })).toBe(`${path}:2:20: ColonExpected`)
  })

  test("must hold an object", () => {
    expect(refusal({ file: "[1]" })).toContain("must hold an object")
  })
})

describe("texts from the environment and from flags", () => {
  test.each([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ])("%s is %s for a yes or no", (text, value) => {
    expect(load({ environment: { THROUGHLINE_HTTP_ENABLED: text } }).config.http.enabled).toBe(value)
  })

  test("a value may hold an equals sign", () => {
    const url = "postgres://localhost/db?sslmode=require"
    expect(load({ flags: [`database.url=${url}`] }).config.database.url).toBe(url)
  })

  test("a name is the key in capitals, its humps and dots underlined", () => {
    expect(environmentName("http.behindTls")).toBe("THROUGHLINE_HTTP_BEHIND_TLS")
    expect(environmentName("sessions.archiveAfterDays")).toBe("THROUGHLINE_SESSIONS_ARCHIVE_AFTER_DAYS")
  })

  test("every setting can be given by its name", () => {
    const unset: Record<string, string> = {
      "database.url": "postgres://localhost/db",
      "telegram.token": `123:${"a".repeat(30)}`,
      "telegram.chat": "-1001",
    }
    for (const { key, value } of load({}).settings) {
      const environment = { [environmentName(key)]: String(value ?? unset[key]) }
      const { settings } = load({ environment })
      expect(settings.find((setting) => setting.key === key)?.source).toBe(`environment ${environmentName(key)}`)
    }
  })
})

describe(proves("config.named"), () => {
  test.each<[name: string, given: Given, parts: string[]]>([
    ["a wrong value in the file", { file: '{ "http": { "port": 99999 } }' }, ["http.port = 99999", "config.json"]],
    [
      "a wrong value in the environment",
      { environment: { THROUGHLINE_HTTP_PORT: "http" } },
      ['http.port = "http"', "environment THROUGHLINE_HTTP_PORT"],
    ],
    ["a wrong value in a flag", { flags: ["log.level=loud"] }, ['log.level = "loud"', "--set"]],
    ["an empty number", { environment: { THROUGHLINE_HTTP_PORT: "" } }, ['http.port = ""']],
    [
      "an unknown key in the file",
      { file: '{ "http": { "prot": 1 } }' },
      ["http.prot = 1", "is not a setting", "http.port"],
    ],
    ["an unknown section in the file", { file: '{ "htpp": { "port": 1 } }' }, ["htpp = 1", "is not a setting"]],
    [
      "an unknown name in the environment",
      { environment: { THROUGHLINE_HTTP_PROT: "1" } },
      ["THROUGHLINE_HTTP_PROT", "the environment", "THROUGHLINE_HTTP_PORT"],
    ],
    ["an unknown key in a flag", { flags: ["http.prot=1"] }, ["http.prot", "--set", "http.port"]],
    ["a flag without a value", { flags: ["http.port"] }, ['http.port = ""', "--set"]],
    ["a value where a group belongs", { file: '{ "http": 5000 }' }, ["http = 5000", "config.json"]],
  ])("%s", (_, given, parts) => {
    const message = refusal(given)
    for (const part of parts) expect(message).toContain(part)
  })

  const secret = "mysql://me:hunter2@localhost/db"
  test.each<[name: string, given: Given]>([
    ["in the file", { file: JSON.stringify({ database: { url: secret } }) }],
    ["in the environment", { environment: { THROUGHLINE_DATABASE_URL: secret } }],
    ["in a flag", { flags: [`database.url=${secret}`] }],
    ["of a wrong type", { file: JSON.stringify({ database: { url: [secret] } }) }],
    ["wrapped in an object", { file: JSON.stringify({ database: { url: { value: secret } } }) }],
  ])("a secret %s is not shown", (_, given) => {
    const message = refusal(given)
    expect(message).toContain("database.url")
    expect(message).not.toContain("hunter2")
  })

  test.each<[name: string, given: Given]>([
    ["the group", { file: JSON.stringify({ database: secret }) }],
    ["a mistyped key of the file", { file: JSON.stringify({ database: { uri: secret } }) }],
    ["a mistyped name in the environment", { environment: { THROUGHLINE_DATABASE_URI: secret } }],
    ["a mistyped flag", { flags: [`database.uri=${secret}`] }],
  ])("nor is one that was given to %s", (_, given) => {
    expect(refusal(given)).not.toContain("hunter2")
  })
})

describe("teams", () => {
  const file = (team: object | string, name = "web") => JSON.stringify({ teams: { [name]: team } })

  test("are in the file, each shown as one setting", () => {
    const { config, settings } = load({ file: file({ project: "/srv/web" }) })
    expect(config.teams.web).toMatchObject({ project: "/srv/web", platform: "claude-code", permissionMode: "default" })
    const shown = settings.find((setting) => setting.key === "teams.web")
    expect(shown).toMatchObject({ source: path, value: { project: "/srv/web" } })
  })

  test.each([
    ["Iris's path", { path: "/srv/web" }],
    ["Nexus's workdir", { workdir: "/srv/web" }],
    ["both, of which project counts", { project: "/srv/web", path: "/srv/old" }],
  ])("may name the project by %s", (_, team) => {
    expect(load({ file: file(team) }).config.teams.web?.project).toBe("/srv/web")
  })

  test("a chat is named by Nexus's chat_id too, of which an empty one is none", () => {
    const chatOf = (team: object) => load({ file: file({ project: "/p", ...team }) }).config.teams.web?.chat
    expect(chatOf({ chat_id: -100123 })).toEqual({ id: "-100123", thread: null, users: [] })
    expect(chatOf({ chat: { id: "-1", thread: 7 } })).toEqual({ id: "-1", thread: 7, users: [] })
    expect(chatOf({ chat_id: "" })).toBeUndefined()
    expect(() => chatOf({ chat_id: "@homelab" })).toThrow(/chat_id.*must be the number of a Telegram chat/s)
    expect(() => chatOf({ chat: { id: -1, users: ["ada"] } })).toThrow(/users.*must be the number of a Telegram user/s)
  })

  test("that asks nobody says so in its permission mode", () => {
    const team = load({ file: file({ project: "/p", skipPermissions: true }) }).config.teams.web
    expect(team?.permissionMode).toBe("bypassPermissions")
  })

  test.each<[name: string, given: Given, parts: string[]]>([
    ["a relative project", { file: file({ project: "web" }) }, ['teams.web.project = "web"', "absolute"]],
    ["no project", { file: file({ description: "x" }) }, ["teams.web.project = nothing", "is missing"]],
    [
      "an unknown agent",
      { file: file({ project: "/p", platform: "emacs" }) },
      ['teams.web.platform = "emacs"', "codex"],
    ],
    [
      "a mistyped key",
      { file: file({ project: "/p", colour: "red" }) },
      ['teams.web.colour = "red"', "skipPermissions"],
    ],
    ["a name with a dot", { file: file({ project: "/p" }, "a.b") }, ["teams.a.b", "letters, digits"]],
    ["a team that is a text", { file: file("web") }, ['teams.web = "web"', "config.json"]],
    ["teams that are a list", { file: '{ "teams": [] }' }, ["teams = []"]],
    [
      "a mode that contradicts",
      { file: file({ project: "/p", skipPermissions: true, permissionMode: "plan" }) },
      ['teams.web.permissionMode = "plan"', "skipPermissions"],
    ],
    [
      "a mode of another agent",
      { file: file({ project: "/p", platform: "codex", permissionMode: "plan" }) },
      ['teams.web.permissionMode = "plan"', "workspace-write"],
    ],
    [
      "a file that the agent would not read",
      { file: file({ project: "/p", platform: "codex", claude_md: "/p/x.md" }) },
      ['teams.web.claude_md = "/p/x.md"', "codex"],
    ],
    ["the environment", { environment: { THROUGHLINE_TEAMS: "{}" } }, ["THROUGHLINE_TEAMS", "only be set in the file"]],
    ["a flag", { flags: ["teams.web.project=/p"] }, ["teams.web.project", "only be set in the file"]],
  ])("%s is refused", (_, given, parts) => {
    const message = refusal(given)
    for (const part of parts) expect(message).toContain(part)
  })
})

test("the settings in force are frozen and list every key", () => {
  const { config, settings } = load({})
  expect(Object.isFrozen(config)).toBe(true)
  expect(settings.map((setting) => setting.key)).toContain("sessions.archiveAfterDays")
  expect(settings.filter((setting) => setting.secret).map((setting) => setting.key)).toContain("database.url")
})
