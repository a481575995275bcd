import { spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { createInterface } from "node:readline"
import { Failure } from "../../domain/failure.ts"
import type { Machine } from "../../domain/platform.ts"
import { makeJsonRpc, type Params, type RequestId, RpcError, type RpcMessage, RpcTimeout } from "../../lib/json-rpc.ts"
import { kindOf } from "../../lib/untrusted-file.ts"
import { openWebSocket } from "./websocket.ts"

/** An app server of Codex, whichever way it is spoken to. */
export interface CodexServer {
  /** Throws `agent_refused` when it says no, and `agent_unreachable` when it says nothing. */
  ask<T>(method: string, params?: object, timeoutMs?: number): Promise<T>
  /** To something that the server asked. */
  answer(id: RequestId, result: object): void
  close(): void
}

/** What else is heard of a server, beside answers to what it is asked. */
export interface Ears {
  onEvent?: OnEvent
  /** It asks for a person's word; who does not answer leaves it to the terminal. */
  onRequest?(id: RequestId, method: string, params: Params): void
  onEnd?(): void
}
export type OnEvent = (method: string, params: Params) => void

const CONNECT_MS = 2_000
const ANSWER_MS = 15_000
/** How long a server that was told to end may take for it. */
const END_MS = 2_000

export function codexHome({ homeDir, env }: Machine): string {
  const named = env.CODEX_HOME ?? ""
  return isAbsolute(named) ? named : join(homeDir, ".codex")
}

/** The one that all terminals of this home share; undefined when nobody listens there. */
export async function joinDaemon(home: string, ears: Ears = {}): Promise<CodexServer | undefined> {
  const socketPath = join(home, "app-server-control", "app-server-control.sock")
  const talk = conversation("the daemon of Codex", ears)
  try {
    const line = await openWebSocket({ socketPath, timeoutMs: CONNECT_MS, onText: talk.heard, onEnd: talk.ended })
    return await handshake(talk.begin(line), CONNECT_MS)
  } catch {
    return undefined
  }
}

/** One of our own, for when no daemon runs: it opens no thread, and is gone when it is closed. */
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
    const kill = setTimeout(() => child.kill("SIGKILL"), END_MS)
    child.once("exit", () => clearTimeout(kill))
  }
  return handshake(talk.begin({ send: (text) => void child.stdin.write(`${text}\n`), close }), ANSWER_MS)
}

/** The copy that the daemon runs from has served the sessions last; else what a person would start. */
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
    // Its queue is among what it calls experimental.
    await server.ask("initialize", { clientInfo, capabilities: { experimentalApi: true } }, timeoutMs)
    server.tell("initialized")
    return server
  } catch (error) {
    server.close()
    throw error
  }
}

function conversation(who: string, { onEvent, onRequest, onEnd }: Ears) {
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
    heard: (text: string) => rpc.receive(parsed(text)),
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

/** What is no JSON answers nothing: whoever waits is told so in time. */
function parsed(text: string): RpcMessage {
  try {
    return JSON.parse(text) as RpcMessage
  } catch {
    return {}
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
