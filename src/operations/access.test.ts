import { describe, expect, test } from "vitest"
import { ACCESS, type Caller, callerKind, isOwner, mayCall } from "../domain/caller.ts"
import type { Failure } from "../domain/failure.ts"
import { authorize, local } from "./invoke.ts"
import { operations } from "./list.ts"
import type { Operation } from "./operation.ts"
import type { Services } from "./services.ts"

/**
 * Written out once more, by hand: an operation that becomes easier to call, or a new one, has to be named here as well.
 * What is not listed is for anyone.
 */
const OWNERS = [
  "config.set",
  "config.show",
  "dashboard.key",
  "down",
  "forget",
  "permissions.answer",
  "notices.dismiss",
  "queue.settle",
  "sources.trust",
  "sources.untrust",
  "teams.add",
  "teams.adopt",
  "teams.import",
  "teams.remove",
  "telegram.pair",
  "telegram.test",
  "telegram.users",
  "telegram.users.remove",
  "up",
]
const AGENTS = [
  "handoff",
  "import",
  "init",
  "log_conversation_exchange",
  "queue.cancel",
  "reindex",
  "sessions.archive",
  "sessions.link",
  "sessions.pin",
  "sessions.rename",
  "sync_conversation_history",
  "task_state",
  "thought",
]

/** Each kind of caller as its surface builds it, and what it may call. */
const CALLERS: [who: string, caller: Caller, may: Operation["access"][]][] = [
  ["the owner at a terminal", { surface: "cli", cwd: "/" }, ["anyone", "agent", "owner"]],
  ["the owner at the dashboard", { surface: "http", isOwner: true, isRemote: true }, ["anyone", "agent", "owner"]],
  ["an agent over MCP", { surface: "mcp", key: "mcp:1", cwd: "/" }, ["anyone", "agent"]],
  ["an agent over MCP and HTTP", { surface: "mcp", isRemote: true }, ["anyone", "agent"]],
  ["an agent in its own shell", { surface: "cli", agentShell: "claude-code", cwd: "/" }, ["anyone", "agent"]],
  ["somebody with the token", { surface: "http", isOwner: false, isRemote: true }, ["anyone"]],
  [
    "somebody with the token who claims to be an agent",
    { surface: "http", isRemote: true, nativeSession: { platform: "codex", id: "x" }, projectDir: "/", pair: "p" },
    ["anyone"],
  ],
  ["a program at the socket that says nothing of itself", { surface: "http" }, ["anyone"]],
]

/** Stands for the modules: whatever an operation touches first ends it, which shows that it was let in. */
const ENTERED = new Error("let in")
function entered(): { services: Services; audited: string[] } {
  const audited: string[] = []
  const services = new Proxy({} as Services, {
    get: (_, module) => {
      if (module === "audit") return async ({ what }: { what: string }) => void audited.push(what)
      throw ENTERED
    },
  })
  return { services, audited }
}

/** The same operation with an input that it always takes, so that only the question of who asks is left. */
const takingAnything = (op: Operation): Operation =>
  ({ ...op, input: { safeParse: (data: unknown) => ({ success: true, data }) } }) as unknown as Operation

describe("every operation says who may call it, and nobody else gets in", () => {
  test.each(operations.map((op) => [op.name, op] as const))("%s", async (name, op) => {
    const expected = OWNERS.includes(name) ? "owner" : AGENTS.includes(name) ? "agent" : "anyone"
    expect(op.access).toBe(expected)
    for (const [who, caller, may] of CALLERS) {
      const { services, audited } = entered()
      const error = await local([takingAnything(op)], services)(name, {}, caller).then(
        () => ENTERED,
        (thrown: unknown) => thrown,
      )
      if (may.includes(op.access)) {
        expect(String((error as Failure).code), `${who} may call ${name}`).not.toMatch(/^(person_needed|not_allowed)$/)
      } else {
        expect(error, `${who} may not call ${name}`).toMatchObject({
          code: op.access === "owner" ? "person_needed" : "not_allowed",
        })
        expect(audited).toEqual([])
      }
    }
  })

  test("the lists of this test name operations that exist", () => {
    const names = operations.map(({ name }) => name)
    expect([...OWNERS, ...AGENTS].filter((name) => !names.includes(name))).toEqual([])
  })

  test("what destroys is the owner's, and no tool of an agent is", () => {
    expect(operations.filter((op) => op.effect === "destroy" && op.access !== "owner")).toEqual([])
    expect(operations.filter((op) => op.on.includes("mcp") && op.access === "owner")).toEqual([])
  })

  test("an unknown operation is refused whoever asks", async () => {
    for (const [, caller] of CALLERS)
      await expect(local(operations, entered().services)("teams.steal", {}, caller)).rejects.toMatchObject({
        code: "unknown_operation",
      })
  })

  test("the names of an object's own members are no operations", async () => {
    for (const name of ["__proto__", "constructor", "toString"])
      await expect(local(operations, entered().services)(name, {}, { surface: "cli" })).rejects.toMatchObject({
        code: "unknown_operation",
      })
  })
})

describe("what the owner changes is audited before it is done", () => {
  test.each([
    ["forget", { containing: "hunter2-secret", since: "2026-01-01" }],
    ["config.set", { key: "telegram.token", value: "123:secret" }],
    ["teams.add", { name: "web", project: "/w", skipPermissions: true }],
    ["up", { team: "web" }],
  ])("%s, and no secret is kept", async (name, input) => {
    const entries: { who: string; what: string; data: object }[] = []
    const services = new Proxy({} as Services, {
      get: (_, module) => {
        if (module === "audit") return async (entry: (typeof entries)[number]) => void entries.push(entry)
        throw ENTERED
      },
    })
    await local(operations, services)(name, input, { surface: "cli" }).catch(() => {})
    expect(entries).toMatchObject([{ who: "the owner", what: name, data: { via: "terminal" } }])
    expect(JSON.stringify(entries)).not.toContain("secret")
  })

  test("a look at what would go is no change", async () => {
    const { services, audited } = entered()
    await local(operations, services)("forget", { sessionId: "x", dryRun: true }, { surface: "cli" }).catch(() => {})
    expect(audited).toEqual([])
  })

  test("every operation of the owner that writes leaves an entry, or writes its own", () => {
    const own = operations.filter((op) => op.access === "owner" && op.audited === "itself").map(({ name }) => name)
    expect(own).toEqual(["permissions.answer", "telegram.pair", "telegram.users.remove"])
  })
})

test("no claim makes a caller the owner", () => {
  expect(isOwner({ surface: "mcp", isOwner: true })).toBe(false)
  expect(isOwner({ surface: "local", isOwner: true })).toBe(false)
  expect(isOwner({ surface: "http", isOwner: true, agentShell: "codex" })).toBe(false)
  expect(callerKind({ surface: "mcp", isOwner: true })).toBe("agent")
  expect(ACCESS.map((access) => mayCall(access, "client"))).toEqual([true, false, false])
})

test.each<[caller: Caller, named: string]>([
  [{ surface: "mcp", nativeSession: { platform: "codex", id: "x" } }, "codex"],
  [{ surface: "mcp" }, "an agent"],
  [{ surface: "cli", agentShell: "claude-code" }, "the shell of an agent (claude-code)"],
  [{ surface: "http", client: { name: "curl", version: "8" } }, "curl (unverified) over HTTP"],
  [{ surface: "http", client: { name: "the owner", version: "8" } }, "an unnamed client over HTTP"],
  [{ surface: "mcp", client: { name: "cursor-vscode", version: "1" } }, "cursor-vscode (unverified)"],
  [{ surface: "http" }, "an unnamed client over HTTP"],
])("who is refused is told what the operation is for, and who it seems to be: %j", (caller, named) => {
  const refusal = (access: Operation["access"]) => {
    try {
      authorize({ name: "teams.add", access }, caller)
    } catch (error) {
      return error
    }
    return undefined
  }
  expect(refusal("owner")).toMatchObject({
    code: "person_needed",
    message: `teams.add is for the owner only; this call comes from ${named}`,
    data: { operation: "teams.add" },
  })
  expect(refusal("anyone")).toBeUndefined()
  if (caller.surface === "http")
    expect(refusal("agent")).toMatchObject({
      code: "not_allowed",
      message: `teams.add is for agents and the owner; this call comes from ${named}`,
      data: { operation: "teams.add" },
    })
  else expect(refusal("agent")).toBeUndefined()
})
