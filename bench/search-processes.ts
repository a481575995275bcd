import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { daemonEnvironment } from "../src/daemon/process/environment.ts"
import type { FillOptions } from "./search-fill.ts"
import type { Host, HostOptions } from "./search-host.ts"

/** Resolves when everything is stored. */
export async function fillStore(options: FillOptions): Promise<{ messages: number; bytes: number }> {
  return answerOf(begin("search-fill.ts", options))
}

/** Starts a process that adds messages until it is ended. */
export function startWriter(options: FillOptions): { end(): Promise<{ messages: number }> } {
  const child = begin("search-fill.ts", options)
  const answer = answerOf<{ messages: number }>(child)
  return {
    end() {
      child.send("end")
      return answer
    },
  }
}

/** Starts the process that hosts the index. */
export async function startHost(options: HostOptions): Promise<Host> {
  const child = begin("search-host.ts", options)
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  let last = 0
  let isReady: () => void
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
  })
  child.on("message", ({ id, answer, error }: { id: number; answer?: unknown; error?: string }) => {
    if (id === 0) return isReady()
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(answer)
    else asked?.reject(new Error(error))
  })
  const died = new Promise<never>((_, reject) => {
    child.on("exit", (code, signal) => {
      const error = new Error(`the process of the index ended with ${code ?? signal}`)
      for (const asked of waiting.values()) asked.reject(error)
      reject(error)
    })
  })
  died.catch(() => {})
  await Promise.race([ready, died])
  const ask = <T>(asked: object) =>
    new Promise<T>((resolve, reject) => {
      waiting.set(++last, { resolve: resolve as (answer: unknown) => void, reject })
      child.send({ id: last, ...asked })
    })
  return {
    built: () => ask({ do: "built" }),
    run: (requests, perSecond) => ask({ do: "run", requests, perSecond }),
    facts: () => ask({ do: "facts" }),
    async close() {
      await ask({ do: "close" })
      if (child.exitCode === null) await once(child, "exit")
    },
  }
}

function begin(file: string, options: object): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url))
  // The daemon's own environment, so that memory is comparable.
  const child = fork(path, [JSON.stringify(options)], { execArgv: [], env: daemonEnvironment() })
  running.add(child)
  child.once("exit", () => running.delete(child))
  return child
}

/** Ends all child processes with the bench. */
const running = new Set<ChildProcess>()
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const answer = once(child, "message")
  const exit = once(child, "exit").then(([code, signal]) => {
    throw new Error(`${child.spawnargs[1]} ended with ${code ?? signal}`)
  })
  exit.catch(() => {})
  const [kept] = await Promise.race([answer, exit])
  if (child.exitCode === null) await once(child, "exit").catch(() => {})
  return kept as T
}
