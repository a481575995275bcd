import { Failure } from "../../../domain/failure.ts"
import { makeJsonRpc, type Params, type RequestId, RpcError } from "../../../lib/json-rpc.ts"
import { type Launch, type LineProcess, startLines } from "./lines.ts"

/** A JSON-RPC program that also sends requests, for many sessions over one pair of pipes. */
export interface RpcPeer extends Pick<LineProcess, "pid" | "gone" | "isGone" | "close"> {
  /** Throws an RpcError with the program's own message, or a Failure when it is gone. */
  call<T>(method: string, params: object): Promise<T>
  notify(method: string, params?: object): void
  /** Calls a method that does not exist: the refusal is the answer. */
  ping(): Promise<void>
  /** Subscribes to the notifications of all sessions. Returns how to unsubscribe. */
  listen(listener: RpcSession["notified"]): () => void
  /** Routes the session's messages to this handler. Returns how to detach. */
  attach(sessionId: string, session: RpcSession): () => void
}

export interface RpcSession {
  notified(method: string, params: Params): void
  /** A thrown error is the answer. */
  asked(method: string, params: Params): Promise<object>
}

export interface RpcLaunch extends Omit<Launch, "onLine"> {
  /** Fields that the protocol requires in every message. */
  envelope: object
  /** The parameter that names the session. */
  sessionKey: string
}

export async function startRpc({ envelope, sessionKey, ...launch }: RpcLaunch): Promise<RpcPeer> {
  const sessions = new Map<string, RpcSession>()
  const listeners = new Set<RpcSession["notified"]>()
  const sessionOf = (params: Params) => sessions.get(String(params[sessionKey]))

  const onRequest = async (id: RequestId, method: string, params: Params) => {
    try {
      const session = sessionOf(params)
      if (!session) throw new RpcError(-32601, `${method} is not served here`)
      rpc.answer(id, await session.asked(method, params))
    } catch (error) {
      rpc.refuse(id, error)
    }
  }
  const onNotification = (method: string, params: Params) => {
    for (const listener of listeners) listener(method, params)
    sessionOf(params)?.notified(method, params)
  }
  const rpc = makeJsonRpc({
    send: (message) => lines.send({ ...envelope, ...message }),
    onRequest: (...request) => void onRequest(...request),
    onNotification,
  })
  const lines = await startLines({ ...launch, onLine: rpc.receive })
  void lines.gone.then((reason) => rpc.end(new Failure("agent_failed", reason)))
  return {
    pid: lines.pid,
    gone: lines.gone,
    get isGone() {
      return lines.isGone
    },
    call: rpc.call,
    async ping() {
      await rpc.call(PING, {}).catch((error: unknown) => {
        if (!(error instanceof RpcError)) throw error
      })
    },
    notify: rpc.notify,
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
    close: (options) => lines.close(options),
  }
}

/** With the underscore that the Agent Client Protocol keeps for others. */
const PING = "_throughline/ping"
