import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { configFile } from "./config-file.ts"

let dir = ""
let path = ""
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "config-"))
  path = join(dir, "config.json")
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const file = () => configFile({ path, environment: {}, flags: [] })
const EMBEDDER = { kind: "openai-compatible", baseUrl: "http://localhost:1/v1", model: "m", apiKey: "sk-very-secret" }

test("what is written is converted, and stands beside comments and everything else", async () => {
  writeFileSync(path, '{\n  // mine\n  "http": { "port": 5000 }\n}\n', { mode: 0o600 })
  await file().set("log.level", "debug")
  await file().set("http.enabled", "false")
  expect(readFileSync(path, "utf8")).toContain("// mine")
  const shown = Object.fromEntries(
    file()
      .show()
      .map(({ key, value }) => [key, value]),
  )
  expect(shown).toMatchObject({ "log.level": "debug", "http.enabled": false, "http.port": 5000 })
  await file().set("http.port", undefined)
  expect(
    file()
      .show()
      .find(({ key }) => key === "http.port"),
  ).toMatchObject({ value: 4747, source: "default" })
})

test("a value that is no good changes nothing, and leaves no draft behind", async () => {
  writeFileSync(path, '{ "http": { "port": 5000 } }', { mode: 0o600 })
  await expect(file().set("http.port", "99999")).rejects.toThrow(/http\.port = 99999/)
  await expect(file().set("http.prot", "1")).rejects.toThrow(/is not a setting/)
  expect(readFileSync(path, "utf8")).toBe('{ "http": { "port": 5000 } }')
  expect(existsSync(`${path}.draft`)).toBe(false)
})

test("a secret inside of a setting is written as it is, and never replaced by what is shown instead of it", async () => {
  await file().set("embedder", JSON.stringify(EMBEDDER))
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ embedder: EMBEDDER })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const shown = file()
    .show()
    .find(({ key }) => key === "embedder")!.value as typeof EMBEDDER
  expect(shown.apiKey).toBe("***")
  await expect(file().set("embedder", JSON.stringify({ ...shown, model: "other" }))).rejects.toThrow(
    /stands for a secret/,
  )
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ embedder: EMBEDDER })
})

test.each([
  ["http.host", "banana", /http\.host = "banana" .*needs a TLS proxy in front/],
  ["http.port", "70000", /http\.port = 70000/],
  ["http.port", "many", /http\.port = "many"/],
  ["log.level", "loud", /log\.level = "loud"/],
  ["capture.redactionExtra", "mine=[", /capture\.redactionExtra/],
  ["capture.redactionExtra", "nothing", /kind=regular expression/],
  ["telegram.apiRoot", "not a url", /telegram\.apiRoot/],
  ["database.url", "mysql://x", /database\.url = "\*\*\*"/],
  ["database.url", "postgres://u:hidden@127.0.0.1:1/x", /database\.url = "\*\*\*".*ECONNREFUSED/],
  [
    "settings.allowedDirectories",
    "/no/such/folder",
    /settings\.allowedDirectories = "\/no\/such\/folder".*there is no such folder/,
  ],
  ["http.prot", "1", /is not a setting/],
  ["teams.web.project", "/x", /can only be set in the file/],
])("%s = %s, which a start would refuse or could not use, is not written", async (key, value, why) => {
  const before = '{\n  // mine\n  "log": { "level": "info" }\n}\n'
  writeFileSync(path, before, { mode: 0o600 })
  const refused = await file()
    .set(key, value)
    .then(
      () => "written",
      (error: Error) => error.message,
    )
  expect(refused).toMatch(why)
  expect(refused).not.toContain("hidden")
  expect(readFileSync(path, "utf8")).toBe(before)
})

test("a port that another program has is refused, and the daemon's own is not", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  await expect(file().set("http.port", String(port))).rejects.toThrow(`port ${port} is in use by another program`)
  const ours = configFile({
    path,
    environment: {},
    flags: [],
    registration: () => ({ url: `http://127.0.0.1:${port}` }),
  })
  await ours.set("http.port", String(port))
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ http: { port } })
  server.close()
})

test("a host that cannot be resolved, or is not this machine's, is refused although TLS stands in front", async () => {
  writeFileSync(path, '{ "http": { "behindTls": true, "port": 0 } }', { mode: 0o600 })
  await expect(file().set("http.host", "no-such-host.invalid")).rejects.toThrow(/cannot be resolved/)
  await expect(file().set("http.host", "192.0.2.1")).rejects.toThrow(/not an address of this machine/)
  await file().set("http.host", "0.0.0.0")
  expect(JSON.parse(readFileSync(path, "utf8")).http.host).toBe("0.0.0.0")
})

test("the answer says how to take it back, but hands out no secret", async () => {
  expect(await file().set("log.level", "debug")).toEqual({})
  expect(await file().set("log.level", "warn")).toEqual({ value: "debug" })
  expect(await file().set("log.level", undefined)).toEqual({ value: "warn" })
  expect(await file().set("telegram.token", "1:aaaaaaaaaaaaaaaaaaaaaaaaa")).toEqual({})
  expect(await file().set("telegram.token", "1:bbbbbbbbbbbbbbbbbbbbbbbbb")).toBeUndefined()
})

test("something else that is wrong already keeps nobody from a change, and a broken value can be corrected", async () => {
  writeFileSync(path, '{ "http": { "host": "banana", "port": 0 } }', { mode: 0o600 })
  expect(() => file().show()).toThrow(new RegExp(`http\\.host = "banana" \\(${path}:1:13\\)`))
  await file().set("http.host", undefined)
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ http: { port: 0 } })
})

test.each(["http.prot", "http", "__proto__", "constructor.name", "teams.web", "nope"])(
  "what is neither a setting nor in the file (%s) is not reset: it was misspelt",
  async (key) => {
    const before = '{ "log": { "level": "info" } }'
    writeFileSync(path, before, { mode: 0o600 })
    await expect(file().set(key, undefined)).rejects.toThrow(
      new RegExp(`^${key} = .*(?:is not a setting|can only be set in the file)`),
    )
    expect(readFileSync(path, "utf8")).toBe(before)
  },
)

test("what is no setting can be taken out of a file that holds it, and a setting that is not set can be reset", async () => {
  writeFileSync(path, '{ "capture": { "enbaled": 1 }, "log": { "level": "info" } }', { mode: 0o600 })
  await file().set("capture.enbaled", undefined)
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ capture: {}, log: { level: "info" } })
  await file().set("telegram.token", undefined)
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ capture: {}, log: { level: "info" } })
})
