import { request } from "node:http"
import { text } from "node:stream/consumers"
import { HOOK_ENV, HOOK_PATH, hookHeaders } from "../domain/hook.ts"
import { writeSpool } from "../sessions/capture/spool.ts"
import type { Environment } from "./environment.ts"
import { homeAt } from "./home.ts"

const MAX_MS = 300
/** At the start of a session the daemon may have something to say, and looks it up first. */
const MAX_START_MS = 1_500
/** Nothing that could end a line, and a header with it. */
const ONE_LINE = /^[^\p{Cc}]+$/u

/** What hook.sh does, on Node: for systems without sh. Says only what the daemon has to say, and never fails. */
export async function hook({ home: dir, tempDir, machine }: Environment, platform: string): Promise<void> {
  try {
    const home = homeAt(dir, tempDir)
    const atNs = BigInt(Math.trunc((performance.timeOrigin + performance.now()) * 1e6))
    const set = HOOK_ENV.flatMap((name) => {
      const value = machine.env[name]
      return value !== undefined && ONE_LINE.test(value) ? [[name, value] as const] : []
    })
    const env = { PPID: String(process.ppid), ...Object.fromEntries(set) }
    const headers = hookHeaders({ key: `${atNs}-${process.pid}`, atNs, env })
    const body = await text(process.stdin)
    const maxMs = /sessionstart/i.test(body) ? MAX_START_MS : MAX_MS
    const reply = await post(home.socket, `${HOOK_PATH}/${encodeURIComponent(platform)}`, { headers, body, maxMs })
    if (reply === undefined) await writeSpool(home.spool, { platform, headers, body, atNs })
    else if (reply !== "") process.stdout.write(`${reply}\n`)
  } catch {
    // The agent's work is not to be disturbed by ours.
  }
}

/** What the daemon has to say, which may be nothing, once the event is kept; undefined when it is not. */
function post(
  socketPath: string,
  path: string,
  { headers, body, maxMs }: { headers: Record<string, string>; body: string; maxMs: number },
): Promise<string | undefined> {
  const bytes = Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")])
  return new Promise((resolve) => {
    const sent = request(
      { socketPath, path, method: "POST", headers: { ...Object.fromEntries(bytes), host: "localhost" } },
      (response) => {
        const { statusCode = 0 } = response
        text(response).then(
          (reply) => resolve(statusCode >= 200 && statusCode < 300 ? reply : undefined),
          () => resolve(undefined),
        )
      },
    )
    sent.on("error", () => resolve(undefined))
    setTimeout(() => sent.destroy(), maxMs).unref()
    // As bytes: a text would make Node write the headers as UTF-8 too.
    sent.end(Buffer.from(body))
  })
}
