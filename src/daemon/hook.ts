import { request } from "node:http"
import { text } from "node:stream/consumers"
import { HOOK_ENV, HOOK_PATH, hookHeaders } from "../domain/hook.ts"
import { writeSpool } from "../sessions/capture/spool.ts"
import type { Environment } from "./environment.ts"
import { homeAt } from "./home.ts"

const MAX_MS = 300
/** Nothing that could end a line, and a header with it. */
const ONE_LINE = /^[^\p{Cc}]+$/u

/** What hook.sh does, on Node: for systems without sh. Says nothing and never fails, whatever happens. */
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
    const isKept = await post(home.socket, `${HOOK_PATH}/${encodeURIComponent(platform)}`, headers, body)
    if (!isKept) await writeSpool(home.spool, { platform, headers, body, atNs })
  } catch {
    // The agent's work is not to be disturbed by ours.
  }
}

function post(socketPath: string, path: string, headers: Record<string, string>, body: string): Promise<boolean> {
  const bytes = Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")])
  return new Promise((resolve) => {
    const sent = request(
      { socketPath, path, method: "POST", headers: { ...Object.fromEntries(bytes), host: "localhost" } },
      (response) => {
        response.resume()
        resolve(response.statusCode === 204)
      },
    )
    sent.on("error", () => resolve(false))
    setTimeout(() => sent.destroy(), MAX_MS).unref()
    // As bytes: a text would make Node write the headers as UTF-8 too.
    sent.end(Buffer.from(body))
  })
}
