// Calls every operation as every kind of caller with random inputs, over HTTP and MCP, against a real daemon in a data
// directory of its own. Reports what was let through that should not have been, what answered `internal` or 5xx, and what
// did not answer. `node scripts/fuzz.ts 1000 <seed>`; CI runs a short form (test/journeys/fuzz.test.ts).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import Database from "better-sqlite3"
import { type CallerKind, mayCall } from "../src/domain/caller.ts"
import { operations } from "../src/operations/list.ts"
import type { Operation } from "../src/operations/operation.ts"
import { ask, dashboardAddress, keyOf, makeHome, type TestHome, type WireRequest } from "../test/fixtures/daemon.ts"
import { anything, inputFor, mulberry } from "./fuzz-inputs.ts"
import { fuzzMcp } from "./fuzz-mcp.ts"

export interface FuzzReport {
  requests: number
  /** Answers by their code, for each kind of caller. */
  codes: Record<string, Record<string, number>>
  /** The fewest requests that one operation had from one caller, of those without a limit of their own. */
  fewest: number
  /** What must not happen. */
  troubles: string[]
}

interface Way {
  name: string
  kind: CallerKind
  request: Pick<WireRequest, "socket" | "headers">
}

/** Nobody waits for these: a call of one costs seconds, or works on everything that is kept. */
export const SLOW = new Set(["reindex", "import", "doctor", "sync_conversation_history", "analytics", "telegram.test"])
/** For one operation and caller, so that the whole run ends within a night. */
export const MOST_MS_EACH = 120_000

/** How an operation as a whole is refused; one that is allowed may still not touch what is somebody else's. */
const REFUSED_WHOLE = / is for (?:the owner only|agents and the owner); this call comes from /

/** A daemon with one team, whose program would leave a trace. */
export async function withTarget(work: (target: { home: TestHome; project: string; key: string }) => Promise<void>) {
  const home = makeHome()
  try {
    const project = join(home.env.HOME!, "project")
    mkdirSync(project, { recursive: true })
    writeFileSync(join(project, "trap.sh"), `#!/bin/sh\ntouch ${join(home.env.HOME!, "ran")}\n`, { mode: 0o700 })
    await home.run("start")
    await home.json("teams", "add", "web", "--project", project)
    await work({ home, project, key: keyOf(await dashboardAddress(home)) })
  } finally {
    await home.dispose()
  }
}

export async function fuzz(times: number, seed = 1): Promise<FuzzReport> {
  const random = mulberry(seed)
  const report: FuzzReport = { requests: 0, codes: {}, fewest: Number.POSITIVE_INFINITY, troubles: [] }
  await withTarget(async ({ home, project, key }) => {
    for (const way of ways(home, key)) {
      // The owner comes last, and may start what it likes.
      if (way.kind === "owner" && existsSync(join(home.env.HOME!, "ran"))) report.troubles.push("a program was started")
      const before = facts(home)
      for (const op of operations) await hammer(op, way)
      const after = facts(home)
      if (way.kind !== "owner" && after !== before)
        report.troubles.push(`${way.name} changed something: ${before} → ${after}`)
    }

    async function hammer(op: Operation, { name, kind, request }: Way) {
      const isAllowed = mayCall(op.access, kind)
      const count = SLOW.has(op.name) && isAllowed ? Math.min(times, 3) : times
      report.codes[name] ??= {}
      const codes = report.codes[name]
      const endMs = Date.now() + MOST_MS_EACH
      let n = 0
      for (; n < count && Date.now() < endMs; n++) {
        const input = JSON.stringify(n % 10 === 0 ? anything(random, 3) : inputFor(op, random, project))
        const answer = await ask(home, { path: `/api/${op.name}`, body: input, ...request })
        report.requests++
        const code = answer.status === 200 ? "ok" : codeOf(answer.body)
        codes[code] = (codes[code] ?? 0) + 1
        if (code === "internal") report.troubles.push(`${op.name} as ${name}: internal for ${input.slice(0, 300)}`)
        const isOffered = op.on.includes("http") || op.on.includes("cli")
        if (!isAllowed && isOffered && code !== "person_needed" && code !== "not_allowed")
          report.troubles.push(`${op.name} as ${name}: ${code} for ${input.slice(0, 200)}`)
        if (isAllowed && REFUSED_WHOLE.test(answer.body)) report.troubles.push(`${op.name} as ${name} was refused`)
      }
      if (count === times) report.fewest = Math.min(report.fewest, n)
    }
  })
  return report
}

function ways(home: TestHome, key: string): Way[] {
  const said = (caller: object) => ({ "throughline-caller": encodeURIComponent(JSON.stringify(caller)) })
  const owner = { surface: "cli", isOwner: true, client: { name: "the owner", version: "1" }, cwd: "/" }
  const forged = { "throughline-owner": `${Date.now()}.AAAAAAAA` }
  return [
    { name: "token", kind: "client", request: {} },
    { name: "token that claims to be the owner", kind: "client", request: { headers: said(owner) } },
    {
      name: "socket without a proof",
      kind: "client",
      request: { socket: true, headers: { ...said(owner), ...forged } },
    },
    { name: "agent", kind: "agent", request: { socket: true, headers: said({ surface: "mcp", cwd: home.env.HOME }) } },
    {
      name: "agent's shell",
      kind: "agent",
      request: { socket: true, headers: { ...said({ surface: "cli", agentShell: "codex" }), "throughline-owner": "" } },
    },
    { name: "owner", kind: "owner", request: { headers: { authorization: `Bearer ${key}` } } },
  ]
}

/** What nobody but the owner may change: the settings, the teams, who was let in, and what was decided or deleted. */
export function facts(home: TestHome): string {
  const db = new Database(join(home.dir, "throughline.db"), { readonly: true })
  try {
    const count = (query: string) => (db.prepare(query).get() as { n: number }).n
    return JSON.stringify({
      config: readFileSync(join(home.dir, "config.json"), "utf8"),
      audit: count("select count(*) as n from audit"),
      forgotten: count("select count(*) as n from journal where kind like '%forg%'"),
      ran: existsSync(join(home.env.HOME!, "ran")),
    })
  } finally {
    db.close()
  }
}

function codeOf(body: string): string {
  try {
    return (JSON.parse(body) as { error: { code: string } }).error.code
  } catch {
    return `no answer of ours: ${body.slice(0, 80)}`
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [times, seed] = [Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 1)]
  const which = process.argv[4] ?? "all"
  if (which !== "mcp") print("HTTP", await fuzz(times, seed))
  if (which !== "http") print("MCP", await fuzzMcp(times, seed))
}

function print(surface: string, { requests, codes, fewest, troubles }: FuzzReport): void {
  console.log(`${surface}: ${requests.toLocaleString("en")} requests; at least ${fewest} per operation and caller`)
  console.table(codes)
  const kinds = Map.groupBy(troubles, (one) => one.slice(0, 60))
  for (const [, some] of kinds) console.log(`${some.length} × ${some[0]!.slice(0, 400)}`)
  if (troubles.length > 0) process.exitCode = 1
}
