// What a tool call costs, against an echo tool on the bare SDK over the same transport, in the same run.
//   node bench/toolcall.ts [calls of each kind] [pairs of processes]
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { makeHome, type TestHome } from "../test/fixtures/daemon.ts"
import { connect, type Era, type Transport } from "../test/fixtures/mcp.ts"
import { type Row, report, round, summarize, timed } from "./lib.ts"

const CALLS = Number(process.argv[2] ?? 800)
const ROUNDS = 40
/** Fresh processes on both sides: where one happens to lie in memory makes more of a difference than what it does. */
const PAIRS = Number(process.argv[3] ?? 3)
const CALL_NAMES = ["echo", "keep", "read", "write"] as const
type CallName = (typeof CALL_NAMES)[number]
type Summary = Record<CallName, ReturnType<typeof summarize>>

/** Each follows each other one equally often: what a write leaves to be done must not always fall on the same. */
const ORDERS = [
  ["echo", "read", "write", "keep"],
  ["read", "keep", "echo", "write"],
  ["keep", "write", "read", "echo"],
  ["write", "echo", "keep", "read"],
] as const satisfies CallName[][]
/** Until the compilers on both sides have settled. Half of these calls wait for the disk, so more would take minutes. */
const WARM_UP = 300

const rows: Row[] = []
const details: Record<string, unknown> = {}
for (const transport of ["stdio", "http"] as const) {
  for (const era of ["legacy", "modern"] as const) await compare(transport, era)
}
report("toolcall", rows, details)

async function compare(transport: Transport, era: Era): Promise<void> {
  const pairs: Summary[] = []
  const name = `${transport} ${era === "legacy" ? "2025" : "2026"}`
  for (let pair = 1; pair <= PAIRS; pair++) {
    pairs.push(await comparePair(transport, era))
    console.error(`${name}: ${pair} of ${PAIRS} pairs after ${round(performance.now() / 1000, 0)} s`)
  }
  details[name] = pairs
  rows.push({ what: `${name} echo p50 ms`, value: middle(pairs.map(({ echo }) => echo.p50)) })
  for (const [what, ours, floor] of [
    ["init get_state, ms more than echo", "read", "echo"],
    ["thought, ms more than an echo that is kept on disk", "write", "keep"],
  ] as const) {
    const moreMs = round(middle(pairs.map((pair) => pair[ours].p50 - pair[floor].p50)))
    // An agent does not notice less.
    rows.push({ what: `${name} ${what}`, value: moreMs, bar: "≤ 1", holds: moreMs <= 1 })
  }
}

function middle(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

async function comparePair(transport: Transport, era: Era): Promise<Summary> {
  const home = makeHome()
  try {
    await home.run("start")
    return await measure(home, transport, era)
  } finally {
    await home.dispose()
  }
}

async function measure(home: TestHome, transport: Transport, era: Era): Promise<Summary> {
  const project = `${home.env.HOME}/project`
  mkdirSync(project)
  const echo = await connectEcho(transport, era)
  const ours = await connect(home, { transport, era, cwd: project })
  const { session } = await ours.call<{ session: { id: string } }>("init", {
    operation: "start_new",
    mcpRootUri: project,
  })
  const calls: Record<CallName, () => Promise<unknown>> = {
    echo: () => echo.client.callTool({ name: "echo", arguments: { text: "x".repeat(100) } }),
    keep: () => echo.client.callTool({ name: "keep", arguments: { text: "x".repeat(100) } }),
    read: () => ours.call("init", { operation: "get_state", mcpRootUri: project }),
    write: () => ours.call("thought", { thought: "x".repeat(100), nextThoughtNeeded: true, sessionId: session.id }),
  }
  const times: Record<CallName, number[]> = { echo: [], keep: [], read: [], write: [] }
  for (const name of CALL_NAMES) for (let i = 0; i < WARM_UP; i++) await calls[name]()
  // Interleaved, so that whatever else the machine does falls on all alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ORDERS[round % ORDERS.length]!) {
      for (let i = 0; i < CALLS / ROUNDS; i++) times[name].push(await timed(calls[name]))
    }
  }
  await ours.close()
  await echo.close()
  return Object.fromEntries(CALL_NAMES.map((name) => [name, summarize(times[name])])) as Summary
}

async function connectEcho(transport: Transport, era: Era): Promise<{ client: Client; close(): Promise<void> }> {
  const file = fileURLToPath(new URL(`peers/echo-${transport}.ts`, import.meta.url))
  const client = new Client(
    { name: "bench", version: "1.0.0" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  )
  let server: ChildProcess | undefined
  if (transport === "stdio")
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [file], stderr: "inherit" }))
  else {
    server = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] })
    const [port] = (await once(server.stdout!, "data")) as [Buffer]
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port.toString().trim()}/mcp`)))
  }
  return {
    client,
    async close() {
      await client.close()
      server?.kill()
    },
  }
}
