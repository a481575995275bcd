import { request } from "node:http"
import { text } from "node:stream/consumers"
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
import { after, sleep } from "../../lib/clock.ts"
import type { Environment } from "../process/environment.ts"
import { homeAt, isSocketOurs } from "../process/home.ts"
import { processStart } from "../process/process-identity.ts"

const MAX_MS = 300
/** At session start the daemon may have context to look up. */
const MAX_START_MS = 1_500
/** Text for the end of a turn is lost once the hook has exited. */
const MAX_STOP_MS = 1_500
/** Longer than the daemon lets a background hook wait before it has to ask again. */
const MAX_WAIT_MS = 70_000
/** The daemon confirms a request at once; if it hangs, the terminal asks. */
const MAX_ASK_MS = 1_500
/** How often a hook with a stored request retries to reach a new daemon. */
const LOOK_TIMES = 60
/** No control characters, which could end a header. */
const ONE_LINE = /^[^\p{Cc}]+$/u

/** hook.sh in Node, for systems without sh. Prints only the daemon's answer, and never fails. */
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
    // Never disturb the agent.
  }
}

/** Reads at most so many bytes of a stream that may be endless. */
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

/** Polls until there is a text to wake the agent with, or the agent is gone. Exit code 2 wakes it. */
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

/** Prints the person's decision; without one, the agent's own dialog stays. */
async function ask(socketPath: string, path: string, first: Asked): Promise<void> {
  const agent = process.ppid
  const start = processStart(agent)
  let [at, asked, left] = [path, first, LOOK_TIMES]
  while (left > 0 && start !== undefined && processStart(agent) === start) {
    const { status, said } = await post(socketPath, at, asked)
    if (status === 200) {
      // If the agent no longer reads it, it was not delivered.
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

/** Whether the agent read it. */
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

/** The daemon's answer; status 0 if there is none. */
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
    after(maxMs, () => void sent.destroy(), { ref: false })
    // As bytes: with a string, Node would encode the headers as UTF-8 too.
    sent.end(Buffer.from(body))
  })
}
