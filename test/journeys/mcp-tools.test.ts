import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { operations } from "../../src/operations/list.ts"
import { type AuthProxy, authProxy } from "../fixtures/auth-proxy.ts"
import { BIN, makeHome, type TestHome } from "../fixtures/daemon.ts"

const installed = (path: string) =>
  fileURLToPath(new URL(`../agents/node_modules/@modelcontextprotocol/${path}`, import.meta.url))
const INSPECTOR = installed("inspector/clients/launcher/build/index.js")
const CONFORMANCE = installed("conformance/dist/index.js")

let home: TestHome
let proxy: AuthProxy
beforeAll(async () => {
  home = makeHome()
  await home.run("start")
  proxy = await authProxy(home)
})
afterAll(async () => {
  await proxy.close()
  await home.dispose()
})

/** Runs a tool by its own program file, with nothing of the developer's environment. */
function run(program: string, ...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env: home.env, cwd: home.env.HOME }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr }),
    )
  })
}

test("the inspector and the conformance suite are installed: npm ci --prefix test/agents", () => {
  expect([INSPECTOR, CONFORMANCE].filter((path) => !existsSync(path))).toEqual([])
})

describe.each(["stdio", "http"])("the MCP inspector over %s", (transport) => {
  const target = () =>
    transport === "stdio"
      ? [
          process.execPath,
          BIN,
          "mcp",
          ...["THROUGHLINE_HOME", "THROUGHLINE_HTTP_PORT"].flatMap((name) => ["-e", `${name}=${home.env[name]}`]),
        ]
      : [`${home.registration().url}/mcp`, "--header", `Authorization: Bearer ${home.token()}`]
  const inspect = (era: string, ...args: string[]) =>
    run(INSPECTOR, "--cli", ...target(), "--protocol-era", era, "--format", "json", "--quiet", ...args)

  test.each(["legacy", "modern"])("lists tools whose schemas every client can read, %s era", async (era) => {
    const { code, said } = await inspect(era, "--method", "tools/list", "--strict")
    expect(code, said).toBe(0)
    for (const op of operations.filter((op) => op.on.includes("mcp"))) expect(said).toContain(`"name":"${op.name}"`)
  })

  test.each(["legacy", "modern"])("calls a tool and reads its answer, %s era", async (era) => {
    const { code, said } = await inspect(
      era,
      "--method",
      "tools/call",
      "--tool-name",
      "init",
      "--tool-args-json",
      JSON.stringify({ operation: "start_new", title: `inspected ${era}`, mcpRootUri: home.env.HOME }),
    )
    expect(code, said).toBe(0)
    expect(said).toContain(`"title":"inspected ${era}"`)
  })
})

const APPLICABLE = [
  "server-initialize",
  "ping",
  "tools-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
]

const FIXTURE = "calls a tool of the suite's own example server"
const NO_RESOURCES = "Throughline offers no resources"
const NO_PROMPTS = "Throughline offers no prompts"
const NOT_APPLICABLE: Record<string, string> = {
  "logging-set-level": "Throughline sends no log messages to clients",
  "completion-complete": "without prompts and resources there is nothing to complete",
  "tools-call-simple-text": FIXTURE,
  "tools-call-image": FIXTURE,
  "tools-call-audio": FIXTURE,
  "tools-call-embedded-resource": FIXTURE,
  "tools-call-mixed-content": FIXTURE,
  "tools-call-with-logging": FIXTURE,
  "tools-call-error": FIXTURE,
  "tools-call-with-progress": FIXTURE,
  "tools-call-sampling": FIXTURE,
  "tools-call-elicitation": FIXTURE,
  "json-schema-2020-12": FIXTURE,
  "elicitation-sep1034-defaults": FIXTURE,
  "elicitation-sep1330-enums": FIXTURE,
  "server-sse-polling": FIXTURE,
  "resources-list": NO_RESOURCES,
  "resources-read-text": NO_RESOURCES,
  "resources-read-binary": NO_RESOURCES,
  "resources-templates-read": NO_RESOURCES,
  "resources-subscribe": NO_RESOURCES,
  "resources-unsubscribe": NO_RESOURCES,
  "prompts-list": NO_PROMPTS,
  "prompts-get-simple": NO_PROMPTS,
  "prompts-get-with-args": NO_PROMPTS,
  "prompts-get-embedded-resource": NO_PROMPTS,
  "prompts-get-with-image": NO_PROMPTS,
}

describe("the MCP conformance suite", () => {
  test("has no scenario that is neither run nor left out for a reason", async () => {
    const { said } = await run(CONFORMANCE, "list")
    const ofServers = said.slice(said.indexOf("Server scenarios"), said.indexOf("Client scenarios"))
    const scenarios = [...ofServers.matchAll(/^ +- (\S+)/gm)].map((match) => match[1]!)
    expect(scenarios.sort()).toEqual([...APPLICABLE, ...Object.keys(NOT_APPLICABLE)].sort())
  })

  test.each(APPLICABLE)("passes %s", async (scenario) => {
    const { code, said } = await run(CONFORMANCE, "server", "--url", `${proxy.url}/mcp`, "--scenario", scenario)
    expect(code, said).toBe(0)
    expect(said).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed/)
  })
})
