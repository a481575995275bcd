import { Failure } from "../../../domain/failure.ts"
import { makeJsonRpc, type Params, type RequestId, RpcError } from "../../../lib/json-rpc.ts"
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

export interface RpcLaunch extends Omit<Launch, "onLine"> {
  /** Stands in every line, where the protocol wants that. */
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
