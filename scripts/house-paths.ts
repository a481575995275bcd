// Which files of src run when one thing happens: prints, as JSON, the files on each of the four paths of
// docs/architecture.md. node scripts/house-paths.ts [tree]: the folder of a built checkout, whose own fixtures are used.
//
// The built program runs with V8 recording which functions are called (scripts/house-coverage.ts). After everything has
// happened once, windows in which nothing happens take turns with windows in which it happens once more. A function is on
// the path when it was called then, and in no idle window; a file is on it when that held most times. Threads count for A
// alone: the index, which every path wakes, is part of no other.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { SourceMap } from "node:module"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Called } from "./house-coverage.ts"

export interface PathFiles {
  /** In the daemon with its threads, and in the relay of the agent that calls. */
  files: string[]
  /** In processes that the action starts, such as hooks, and nowhere else: all they run, from their start on. */
  startedFiles: string[]
}

export type Paths = Record<"A" | "B" | "C" | "D", PathFiles>

const RUNS = 3
const WINDOW_MS = 3_000
/** Long enough for loops that look every ten seconds. */
const FIRST_IDLE_MS = 12_000
const PATIENCE_MS = 60_000
const WRITING_MS = 4_000
const tree = resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)))
const fixture = (name: string) => import(pathToFileURL(join(tree, "test/fixtures", `${name}.ts`)).href)
const { ask, makeHome } = (await fixture("daemon")) as typeof import("../test/fixtures/daemon.ts")
const { connect } = (await fixture("mcp")) as typeof import("../test/fixtures/mcp.ts")
const { makeQueueHome } = (await fixture("queue")) as typeof import("../test/fixtures/queue.ts")
const { makeAskingHome } = (await fixture("asking")) as typeof import("../test/fixtures/asking.ts")

const built = new Map<string, Built>()

const paths: Paths = { A: await recorded(), B: await sent(), C: await thought(), D: await asked() }
console.log(JSON.stringify(paths, null, 2))

/** A: a record of an agent becomes a turn that can be searched. */
async function recorded(): Promise<PathFiles> {
  const windows = makeWindows()
  const home = makeHome(windows.env)
  const cwd = join(home.env.HOME!, "project")
  const dir = join(home.env.HOME!, ".claude", "projects", cwd.replaceAll(/\W/g, "-"))
  const sessionId = "0b9a7a55-3c52-4d0b-a5a5-9d5f0d6c2c11"
  for (const folder of [cwd, dir]) mkdirSync(folder, { recursive: true })
  let said = 0
  const record = () => {
    const [at, common] = [++said, { sessionId, cwd, version: "2.1.0", timestamp: new Date().toISOString() }]
    const lines = [
      { type: "user", uuid: `u${at}`, message: { role: "user", content: `Where does river${at} begin?` } },
      {
        type: "assistant",
        uuid: `a${at}`,
        parentUuid: `u${at}`,
        message: { id: `m${at}`, role: "assistant", content: [{ type: "text", text: `At mountain${at}.` }] },
      },
    ]
    appendFileSync(
      join(dir, `${sessionId}.jsonl`),
      lines.map((line) => `${JSON.stringify({ ...line, ...common })}\n`).join(""),
    )
  }
  const found = async (word: string) => {
    const headers = { "throughline-caller": encodeURIComponent(JSON.stringify({ surface: "cli" })) }
    const { body } = await ask(home, {
      path: "/api/search",
      body: JSON.stringify({ query: word }),
      socket: true,
      headers,
    })
    return body.includes(sessionId)
  }
  try {
    record()
    await home.run("start")
    await until("the first record is found", () => found("mountain1"))
    // Windows are long enough for it to be found; asking would run all of the search.
    const result = await windows.measure(async () => record(), { threads: true })
    await until("the last record is found", () => found(`mountain${said}`))
    return result
  } finally {
    await home.dispose()
    windows.dispose()
  }
}

/** B: a message from elsewhere is typed into an agent's terminal, and confirmed. */
async function sent(): Promise<PathFiles> {
  const windows = makeWindows()
  const q = await makeQueueHome(["web"], windows.env)
  try {
    const agent = await q.start("web")
    await until("the agent is known", async () => q.isPlaced(agent)())
    const client = await connect(q.home)
    let sent = 0
    // The same words again would be recognised as the same message.
    const send = async () => {
      const message = `Count the stones of river ${++sent}.`
      const { id } = await client.call<{ id: string }>("send_message", { target: "web", message })
      await until("the message is done", async () => q.states(id).includes("done"))
    }
    await send()
    const result = await windows.measure(send)
    await client.close()
    return result
  } finally {
    await q.dispose()
    windows.dispose()
  }
}

/** C: an agent's thought is stored, and answered. */
async function thought(): Promise<PathFiles> {
  const windows = makeWindows()
  const home = makeHome(windows.env)
  try {
    await home.run("start")
    const project = join(home.env.HOME!, "project")
    mkdirSync(project, { recursive: true })
    const client = await connect(home, { cwd: project })
    const mcpRootUri = pathToFileURL(project).href
    const { session } = await client.call<{ session: { id: string } }>("init", { operation: "start_new", mcpRootUri })
    const think = () =>
      client.call("thought", { thought: "The river is wide.", nextThoughtNeeded: true, sessionId: session.id })
    await think()
    const result = await windows.measure(think)
    await client.close()
    return result
  } finally {
    await home.dispose()
    windows.dispose()
  }
}

/** D: a team asks another one, whose process is warm, and has the answer. */
async function asked(): Promise<PathFiles> {
  const windows = makeWindows()
  const b = await makeAskingHome({ web: {}, api: {} }, { env: windows.env })
  try {
    const client = await connect(b.home, { cwd: b.dirOf("web") })
    let times = 0
    const askOnce = () => client.call("teams_ask", { team: "api", question: `<<SAY stones${++times}>>` })
    await askOnce()
    const result = await windows.measure(askOnce)
    await client.close()
    return result
  } finally {
    await b.dispose()
    windows.dispose()
  }
}

function makeWindows() {
  const dir = mkdtempSync(join(tmpdir(), "house-"))
  const control = join(dir, "window")
  writeFileSync(control, "before")
  const taken = (window: string) => readdirSync(dir).filter((name) => name.startsWith(`${window}.`))
  /** Waits for the counts of the window before; a thread that was terminated never writes them. */
  const open = async (window: string) => {
    const before = readFileSync(control, "utf8")
    const living = readdirSync(dir).filter((name) => name.startsWith("alive."))
    writeFileSync(control, window)
    const isWritten = (name: string) =>
      existsSync(join(dir, `${before}.${name.slice("alive.".length)}.json`)) || !existsSync(join(dir, name))
    for (const endMs = Date.now() + WRITING_MS; Date.now() < endMs && !living.every(isWritten); ) await sleep(50)
    for (const name of living) if (!isWritten(name)) rmSync(join(dir, name), { force: true })
  }
  const calledIn = (window: string) =>
    taken(window).map((name) => JSON.parse(readFileSync(join(dir, name), "utf8")) as Called)
  return {
    env: {
      NODE_OPTIONS: `--import=${new URL("house-coverage.ts", import.meta.url).href}`,
      HOUSE_COVERAGE: dir,
      HOUSE_PROGRAM: pathToFileURL(join(tree, "dist/")).href,
    },
    async measure(action: () => Promise<unknown>, { threads = false } = {}): Promise<PathFiles> {
      for (let run = 0; run < RUNS; run++) {
        await open(`idle-${run}`)
        await sleep(run === 0 ? FIRST_IDLE_MS : WINDOW_MS)
        await open(`action-${run}`)
        await Promise.all([action(), sleep(WINDOW_MS)])
        // What it leaves to be done belongs to neither.
        await open(`rest-${run}`)
        await sleep(WINDOW_MS)
      }
      await open("after")
      const runs = Array.from({ length: RUNS }, (_, run) => run)
      const idle = new Set(runs.flatMap((run) => calledIn(`idle-${run}`)).flatMap(({ calls }) => calls))
      const perRun = runs.map((run) => {
        const window = `action-${run}`
        const called = calledIn(window).filter(({ isMainThread }) => isMainThread || threads)
        const [fresh = [], standing = []] = [true, false].map((isFresh) =>
          called.filter(({ startedIn }) => (startedIn === window) === isFresh).flatMap(({ calls }) => calls),
        )
        return { files: filesOf(standing.filter((at) => !idle.has(at))), started: filesOf(fresh) }
      })
      const files = inMost(perRun.map(({ files }) => files))
      const started = inMost(perRun.map(({ started }) => started))
      return { files, startedFiles: started.filter((file) => !files.includes(file)) }
    },
    dispose: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  }
}

/** What repeats more rarely than windows are long falls into one of them by chance. */
function inMost(sets: Set<string>[]): string[] {
  const files = new Set(sets.flatMap((set) => [...set]))
  return [...files].filter((file) => sets.filter((set) => set.has(file)).length > sets.length / 2).sort()
}

function filesOf(calls: string[]): Set<string> {
  return new Set(calls.map(sourceOf).filter((file) => file !== undefined))
}

interface Built {
  map: SourceMap
  /** Where each line begins. */
  lines: number[]
}

/** The file of src that a function was bundled from. */
function sourceOf(at: string): string | undefined {
  const end = at.lastIndexOf(":")
  const [url, offset] = [at.slice(0, end), Number(at.slice(end + 1))]
  const { map, lines } = builtAt(url)
  const line = lines.findLastIndex((start) => start <= offset)
  const found = map.findEntry(line, offset - lines[line]!)
  if (!("originalSource" in found)) return undefined
  const file = relative(tree, fileURLToPath(new URL(found.originalSource, url)))
  return file.startsWith("src/") ? file : undefined
}

function builtAt(url: string): Built {
  const known = built.get(url)
  if (known) return known
  const path = fileURLToPath(url)
  const text = readFileSync(path, "utf8")
  const lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const made = { map: new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8"))), lines }
  built.set(url, made)
  return made
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; !(await isSo()); await sleep(50))
    if (Date.now() > endMs) throw new Error(`${tree}: not yet: ${what}`)
}
