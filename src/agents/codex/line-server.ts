import { spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { createInterface } from "node:readline"
import { Failure } from "../../domain/failure.ts"
import type { Machine } from "../../domain/platform.ts"
import { after } from "../../lib/clock.ts"
import { makeJsonRpc, type Params, type RequestId, RpcError, RpcTimeout } from "../../lib/json-rpc.ts"
import { kindOf } from "../../lib/untrusted-file.ts"
import { jsonIn } from "../shared/records/jsonl.ts"
import { openWebSocket } from "./websocket.ts"

/** A Codex app-server, over a socket or pipes. */
export interface CodexServer {
  /** Throws `agent_refused` for an error, and `agent_unreachable` without an answer. */
  ask<T>(method: string, params?: object, timeoutMs?: number): Promise<T>
  /** Answers a request of the server. */
  answer(id: RequestId, result: object): void
  close(): void
}

/** Handlers for what the server sends of its own accord. */
export interface ServerEvents {
  onEvent?: OnEvent
  /** A request for a person; unanswered, it stays with the terminal. */
  onRequest?(id: RequestId, method: string, params: Params): void
  onEnd?(): void
}
export type OnEvent = (method: string, params: Params) => void

const CONNECT_MS = 2_000
const ANSWER_MS = 15_000
/** How long a server may take to end. */
const END_MS = 2_000

export function codexHome({ homeDir, env }: Machine): string {
  const named = env.CODEX_HOME ?? ""
  return isAbsolute(named) ? named : join(homeDir, ".codex")
}

/** The daemon that all terminals of this home share; undefined if none is running. */
export async function joinDaemon(home: string, events: ServerEvents = {}): Promise<CodexServer | undefined> {
  const socketPath = join(home, "app-server-control", "app-server-control.sock")
  const talk = conversation("the daemon of Codex", events)
  try {
    const line = await openWebSocket({ socketPath, timeoutMs: CONNECT_MS, onText: talk.heard, onEnd: talk.ended })
    return await handshake(talk.begin(line), CONNECT_MS)
  } catch {
    return undefined
  }
}

/** Our own process, used if no daemon is running: it opens no thread and ends with `close`. */
export async function startServer(program: string, machine: Machine, home: string): Promise<CodexServer> {
  const talk = conversation(program, {})
  const env = { ...machine.env, HOME: machine.homeDir, CODEX_HOME: home }
  const child = spawn(program, ["app-server"], { cwd: home, env, stdio: ["pipe", "pipe", "ignore"] })
  child.on("error", talk.ended)
  child.on("exit", () => talk.ended(undefined))
  child.stdin.on("error", talk.ended)
  createInterface({ input: child.stdout }).on("line", talk.heard)
  const close = () => {
    child.stdin.end()
    child.once(
      "exit",
      after(END_MS, () => void child.kill("SIGKILL")),
    )
  }
  return handshake(talk.begin({ send: (text) => void child.stdin.write(`${text}\n`), close }), ANSWER_MS)
}

/** The daemon's own copy, which served the sessions last; otherwise the one on the PATH. */
export function codexProgram(machine: Machine, home: string): string | undefined {
  const managed = join(home, "packages", "app-server-daemon", "current", "bin", "codex")
  const onPath = (machine.env.PATH ?? "").split(delimiter).filter(isAbsolute)
  return [managed, ...onPath.map((dir) => join(dir, "codex"))].find(isProgram)
}

async function handshake(
  server: CodexServer & { tell(method: string): void },
  timeoutMs: number,
): Promise<CodexServer> {
  try {
    const clientInfo = { name: "throughline", title: "Throughline", version: "1" }
    // Its queue is an experimental API.
    await server.ask("initialize", { clientInfo, capabilities: { experimentalApi: true } }, timeoutMs)
    server.tell("initialized")
    return server
  } catch (error) {
    server.close()
    throw error
  }
}

function conversation(who: string, { onEvent, onRequest, onEnd }: ServerEvents) {
  let line: { send(text: string): void; close(): void }
  let isOver = false
  const lost = (why: string, cause?: unknown) =>
    new Failure("agent_unreachable", `${who} ${why}`, {}, cause === undefined ? undefined : { cause })
  const rpc = makeJsonRpc({
    send: (message) => line.send(JSON.stringify(message)),
    onNotification: (method, params) => onEvent?.(method, params),
    onRequest: (id, method, params) => onRequest?.(id, method, params),
  })
  const failure = (error: unknown) => {
    if (error instanceof RpcTimeout) return lost(error.message)
    return error instanceof RpcError
      ? new Failure("agent_refused", `${who}: ${error.message}`, {}, { cause: error })
      : error
  }

  return {
    // Text that is not JSON answers nothing: the caller runs into its timeout.
    heard: (text: string) => rpc.receive(jsonIn(text) ?? {}),
    ended(cause: Error | undefined) {
      if (!isOver) onEnd?.()
      isOver = true
      rpc.end(lost("is gone", cause))
    },
    begin(opened: typeof line) {
      line = opened
      return {
        answer: rpc.answer,
        tell: (method: string) => rpc.notify(method),
        close: line.close,
        ask: <T>(method: string, params: object = {}, timeoutMs = ANSWER_MS) =>
          rpc.call<T>(method, params, timeoutMs).catch((error: unknown): never => {
            throw failure(error)
          }),
      }
    },
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return kindOf(path) === "file"
  } catch {
    return false
  }
}
