// 1,000 sessions of 50 thoughts: how long a cold daemon takes to be ready, and what connections cost.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { newSessionId } from "../src/domain/ids.ts"
import { sqlite } from "../src/store/dialects/sqlite.ts"
import { openStore } from "../src/store/open.ts"
import { makeHome } from "../test/fixtures/daemon.ts"
import { connect, type McpClient } from "../test/fixtures/mcp.ts"
import { report, round, timed } from "./lib.ts"

const SESSIONS = Number(process.argv[2] ?? 1000)
const THOUGHTS = 50
const CONNECTIONS = 100
/** A collector that has not run yet, or just has, moves a single reading by more than what connections keep. */
const READINGS = 5

const home = makeHome()
try {
  await fill()
  const readyMs = await timed(() => home.run("start"))
  const fresh = await connect(home, { cwd: home.env.HOME! })
  const firstMs = await timed(() =>
    fresh.call("init", { operation: "list_sessions", mcpRootUri: "file:///projects/7" }).catch(() => {}),
  )
  await fresh.close()

  await caughtUp()
  const first = await open(CONNECTIONS)
  const { pid } = home.registration()
  const before = rss(pid)
  const clients: McpClient[] = []
  const growthsMb: number[] = []
  for (let reading = 0; reading < READINGS; reading++) {
    const start = rss(pid)
    clients.push(...(await open(CONNECTIONS)))
    growthsMb.push(round((rss(pid) - start) / 1e6, 1))
  }
  const growthMb = growthsMb.toSorted((a, b) => a - b)[READINGS >> 1]!
  const meanMb = (rss(pid) - before) / 1e6 / READINGS
  await Promise.all([...first, ...clients].map((client) => client.close()))

  report(
    "scale",
    [
      {
        what: `start to ready, ${SESSIONS} × ${THOUGHTS} ms`,
        value: round(readyMs, 0),
        bar: "≤ 2000",
        holds: readyMs <= 2000,
      },
      { what: "first call of a new connection ms", value: round(firstMs, 1), bar: "≤ 100", holds: firstMs <= 100 },
      { what: `${CONNECTIONS} further HTTP connections MB, median`, value: growthMb, bar: "≤ 5", holds: growthMb <= 5 },
      {
        what: `${CONNECTIONS} further HTTP connections MB, mean`,
        value: round(meanMb, 1),
        bar: "≤ 5",
        holds: meanMb <= 5,
      },
      { what: "resting memory MB", value: round(before / 1e6, 0) },
    ],
    { growthsMb },
  )
} finally {
  await home.dispose()
}

/** The words of all thoughts are being indexed after the start; what that takes is no connection's. */
async function caughtUp(): Promise<void> {
  for (;;) {
    const { followers } = await home.json<{ followers: { lag: number }[] }>("status")
    if (followers.every(({ lag }) => lag === 0)) return
    await sleep(200)
  }
}

/** 2025-era HTTP connections are the ones that the daemon itself must hold. */
async function open(count: number): Promise<McpClient[]> {
  const clients: McpClient[] = []
  for (let i = 0; i < count; i++) {
    const client = await connect(home, { transport: "http", era: "legacy" })
    await client.call("init", { operation: "list_sessions", mcpRootUri: "all", limit: 1 })
    clients.push(client)
  }
  return clients
}

function rss(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1])
  return pages * 4096
}

async function fill(): Promise<void> {
  const store = await openStore(sqlite({ path: join(home.dir, "throughline.db") }))
  for (let s = 0; s < SESSIONS; s++) {
    await store.transaction(async (tx) => {
      const project = await tx.projects.ensure(`file:///projects/${s % 50}`, s)
      const id = newSessionId()
      await tx.sessions.create({
        id,
        platform: "throughline",
        nativeId: id,
        projectId: project.id,
        title: `Session ${s}`,
        tags: [],
        key: null,
        createdAtMs: Date.now() - s * 1000,
      })
      for (let number = 1; number <= THOUGHTS; number++) {
        const { thought } = await tx.thoughts.add({
          sessionId: id,
          branchId: null,
          number,
          text: `Thought ${number} of session ${s}. ${"Words to keep and find again. ".repeat(8)}`,
          totalThoughts: THOUGHTS,
          nextThoughtNeeded: true,
          isRevision: false,
          revisesThought: null,
          branchFromThought: null,
          renumberedFrom: null,
          key: null,
          createdAtMs: Date.now(),
        })
        await tx.journal.append([
          {
            kind: "thought.recorded",
            sessionId: id,
            projectId: project.id,
            atMs: Date.now(),
            data: { seq: thought.seq },
          },
        ])
      }
    })
  }
  await store.close()
}
