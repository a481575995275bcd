import { Failure } from "../../../domain/failure.ts"
import { type Launch, type LineProcess, startLines } from "./lines.ts"

/** A program that answers requests and makes some of its own, for many sessions over one pair of pipes. */
export interface RpcPeer extends Pick<LineProcess, "pid" | "gone" | "isGone" | "close"> {
  /** Throws an RpcError with the program's own words, or a Failure when it is gone. */
  call<T>(method: string, params: object): Promise<T>
  notify(method: string, params?: object): void
  /** Asks for something that nobody serves. That it is refused is an answer. */
  ping(): Promise<void>
  /** Hears every notification, of whatever session. Returns how to let go. */
  listen(listener: RpcSession["notified"]): () => void
  /** From now on, what concerns the session goes there. Returns how to let go. */
  attach(sessionId: string, session: RpcSession): () => void
}

export interface RpcSession {
  notified(method: string, params: Params): void
  /** What is thrown goes back as an error. */
  asked(method: string, params: Params): Promise<object>
}

export type Params = Record<string, unknown>

export class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface Message {
  id?: number | string
  method?: string
  params?: Params
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

export interface RpcLaunch extends Omit<Launch, "onLine"> {
  /** Stands in every line, where the protocol wants that. */
  envelope: object
  /** The parameter that names the session. */
  sessionKey: string
}

export async function startRpc({ envelope, sessionKey, ...launch }: RpcLaunch): Promise<RpcPeer> {
  const calls = new Map<number | string, PromiseWithResolvers<unknown>>()
  const sessions = new Map<string, RpcSession>()
  const listeners = new Set<RpcSession["notified"]>()
  let lastId = 0

  const answer = async ({ id, method = "", params = {} }: Message) => {
    const session = sessions.get(String(params[sessionKey]))
    try {
      if (!session) throw new RpcError(-32601, `${method} is not served here`)
      send({ id: id!, result: await session.asked(method, params) })
    } catch (error) {
      const code = error instanceof RpcError ? error.code : -32603
      send({ id: id!, error: { code, message: error instanceof Error ? error.message : String(error) } })
    }
  }
  const onLine = (message: Message) => {
    const { id, method, params = {}, result, error } = message
    if (method !== undefined && id !== undefined) void answer(message)
    else if (method !== undefined) {
      for (const listener of listeners) listener(method, params)
      sessions.get(String(params[sessionKey]))?.notified(method, params)
    } else if (error) calls.get(id!)?.reject(new RpcError(error.code, wordsOf(error)))
    else calls.get(id!)?.resolve(result)
  }

  const call = async <T>(method: string, params: object): Promise<T> => {
    if (lines.isGone) throw new Failure("agent_failed", await lines.gone)
    lastId += 1
    const id = lastId
    const call = Promise.withResolvers<unknown>()
    calls.set(id, call)
    send({ id, method, params: params as Params })
    return (await call.promise.finally(() => calls.delete(id))) as T
  }

  const lines = await startLines({ ...launch, onLine })
  const send = (message: Message) => lines.send({ ...envelope, ...message })
  void lines.gone.then((reason) => {
    for (const call of calls.values()) call.reject(new Failure("agent_failed", reason))
  })
  return {
    pid: lines.pid,
    gone: lines.gone,
    get isGone() {
      return lines.isGone
    },
    call,
    async ping() {
      await call(PING, {}).catch((error: unknown) => {
        if (!(error instanceof RpcError)) throw error
      })
    },
    notify: (method, params) => send({ method, ...(params ? { params: params as Params } : {}) }),
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    attach(sessionId, session) {
      sessions.set(sessionId, session)
      return () => {
        if (sessions.get(sessionId) === session) sessions.delete(sessionId)
      }
    },
    close: (wish) => lines.close(wish),
  }
}

/** With the underscore that the Agent Client Protocol keeps for others. */
const PING = "_throughline/ping"

function wordsOf({ message, data }: { message: string; data?: unknown }): string {
  if (data === undefined || data === null) return message
  return `${message}: ${typeof data === "string" ? data : JSON.stringify(data)}`
}
