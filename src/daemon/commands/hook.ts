import { request } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { writeSpool } from "../../capture/read/spool.ts"
import {
  ASK_PATH,
  HOOK_ENV,
  HOOK_PATH,
  hookHeaders,
  MAX_HOOK_BYTES,
  mayAsk,
  mayWait,
  WAIT_PATH,
} from "../../domain/hook.ts"
import type { Environment } from "../process/environment.ts"
import { homeAt, isSocketOurs } from "../process/home.ts"
import { processStart } from "../process/process-identity.ts"

const MAX_MS = 300
/** At the start of a session the daemon may have something to say, and looks it up first. */
const MAX_START_MS = 1_500
/** What it says at the end of a turn is said to nobody once the hook has gone. */
const MAX_STOP_MS = 1_500
/** Longer than the daemon lets a background hook wait before it has to ask again. */
const MAX_WAIT_MS = 70_000
/** That a question is kept is said at once; a daemon that hangs leaves it to the terminal. */
const MAX_ASK_MS = 1_500
/** So long a hook whose question is kept looks for the daemon that comes next. */
const LOOK_TIMES = 60
/** Nothing that could end a line, and a header with it. */
const ONE_LINE = /^[^\p{Cc}]+$/u

/** What hook.sh does, on Node: for systems without sh. Says only what the daemon has to say, and never fails. */
export async function hook(
  { home: dir, tempDir, machine }: Environment,
  platform: string,
  mode?: string,
): Promise<void> {
  try {
    const home = homeAt(dir, tempDir)
    const atNs = BigInt(Math.trunc((performance.timeOrigin + performance.now()) * 1e6))
    const set = HOOK_ENV.flatMap((name) => {
      const value = machine.env[name]
      return value !== undefined && ONE_LINE.test(value) ? [[name, value] as const] : []
    })
    const env = { PPID: String(process.ppid), ...Object.fromEntries(set) }
    const own = mode === "ask" ? { HOOK_PID: String(process.pid) } : {}
    const headers = hookHeaders({ key: `${atNs}-${process.pid}`, atNs, env: { ...env, ...own } })
    const body = await firstText(process.stdin, MAX_HOOK_BYTES)
    if (mode === "wait") {
      if (mayWait(machine.env) && isSocketOurs(home))
        await wait(home.socket, `${WAIT_PATH}/${encodeURIComponent(platform)}`, { headers, body, maxMs: MAX_WAIT_MS })
      return
    }
    if (mode === "ask") {
      if (mayAsk(machine.env) && isSocketOurs(home))
        await ask(home.socket, `${ASK_PATH}/${encodeURIComponent(platform)}`, { headers, body, maxMs: MAX_ASK_MS })
      return
    }
    const isStop = body.includes('"hook_event_name":"Stop"')
    const maxMs = /sessionstart|"session\.created"|"chat\.message"/i.test(body)
      ? MAX_START_MS
      : isStop
        ? MAX_STOP_MS
        : MAX_MS
    const path = `${HOOK_PATH}/${encodeURIComponent(platform)}`
    const isOurs = isSocketOurs(home)
    const { status, said } = isOurs ? await post(home.socket, path, { headers, body, maxMs }) : { status: 0, said: "" }
    if (status < 200 || status >= 300) await writeSpool(home.spool, { platform, headers, body, atNs })
    else if (said !== "") process.stdout.write(`${said}\n`)
  } catch {
    // The agent's work is not to be disturbed by ours.
  }
}

/** Of a stream that may have no end. */
async function firstText(stream: NodeJS.ReadableStream, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let left = mostBytes
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left <= 0) break
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** Asks until there is something to wake the agent with, or nobody to wake. The exit code 2 wakes it. */
async function wait(socketPath: string, path: string, asked: Asked): Promise<void> {
  const agent = process.ppid
  const start = processStart(agent)
  while (start !== undefined && processStart(agent) === start) {
    const { status, said } = await post(socketPath, path, asked)
    if (status === 204) return
    if (status === 200) {
      process.stderr.write(said)
      process.exitCode = 2
      return
    }
    if (status !== 202) await sleep(1_000)
  }
}

/** Prints a person's word when there is one; otherwise nothing, and the agent's own dialog stays. */
async function ask(socketPath: string, path: string, first: Asked): Promise<void> {
  const agent = process.ppid
  const start = processStart(agent)
  let [at, asked, left] = [path, first, LOOK_TIMES]
  while (left > 0 && start !== undefined && processStart(agent) === start) {
    const { status, said } = await post(socketPath, at, asked)
    if (status === 200) {
      // One that its agent no longer reads was not taken.
      if (await printed(`${said}\n`)) await post(socketPath, `${path}?taken`, { ...first, body: "", maxMs: MAX_MS })
      return
    }
    if (status === 202) [at, asked, left] = [`${path}?held`, { ...first, maxMs: MAX_WAIT_MS }, LOOK_TIMES]
    else if (status !== 0 || at === path) return
    else {
      left--
      await sleep(1_000)
    }
  }
}

/** Whether the agent's end of the pipe took it. */
const printed = (said: string) =>
  new Promise<boolean>((resolve) => {
    process.stdout.once("error", () => resolve(false))
    process.stdout.write(said, (error) => resolve(!error))
  })

interface Asked {
  headers: Record<string, string>
  body: string
  maxMs: number
}

/** What the daemon answers; status 0 when it does not. */
export function post(socketPath: string, path: string, { headers, body, maxMs }: Asked) {
  const bytes = Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")])
  const none = { status: 0, said: "" }
  return new Promise<{ status: number; said: string }>((resolve) => {
    const sent = request(
      { socketPath, path, method: "POST", headers: { ...Object.fromEntries(bytes), host: "localhost" } },
      (response) => {
        const { statusCode: status = 0 } = response
        text(response).then(
          (said) => resolve({ status, said }),
          () => resolve(none),
        )
      },
    )
    sent.on("error", () => resolve(none))
    setTimeout(() => sent.destroy(), maxMs).unref()
    // As bytes: a text would make Node write the headers as UTF-8 too.
    sent.end(Buffer.from(body))
  })
}
