import { errorText } from "../domain/failure.ts"
import { after } from "./clock.ts"

export type Params = Record<string, unknown>
export type RequestId = number | string

export interface RpcMessage {
  id?: RequestId
  method?: string
  params?: Params
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/** What the other side answered instead of a result. */
export class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** No answer in time; one that comes later is ignored. */
export class RpcTimeout extends Error {}

export interface JsonRpcOptions {
  send(message: RpcMessage): void
  onNotification(method: string, params: Params): void
  onRequest(id: RequestId, method: string, params: Params): void
}

/** One side of a JSON-RPC connection, over whatever carries its messages. */
export interface JsonRpc {
  /** Throws an RpcError with the other side's words, an RpcTimeout, or what `end` was given. */
  call<T>(method: string, params: object, timeoutMs?: number): Promise<T>
  notify(method: string, params?: object): void
  answer(id: RequestId, result: object): void
  /** Answers with what was thrown. */
  refuse(id: RequestId, error: unknown): void
  receive(message: RpcMessage): void
  /** Nothing more comes: pending and later calls are rejected with this. */
  end(why: Error): void
}

const INTERNAL_ERROR = -32603

export function makeJsonRpc({ send, onNotification, onRequest }: JsonRpcOptions): JsonRpc {
  const calls = new Map<RequestId, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let ended: Error | undefined
  return {
    async call<T>(method: string, params: object, timeoutMs?: number): Promise<T> {
      if (ended) throw ended
      const id = ++lastId
      const call = Promise.withResolvers<unknown>()
      calls.set(id, call)
      const late = () => call.reject(new RpcTimeout(`did not answer ${method} within ${timeoutMs} ms`))
      const cancel = timeoutMs === undefined ? undefined : after(timeoutMs, late)
      try {
        send({ id, method, params: params as Params })
        return (await call.promise) as T
      } finally {
        cancel?.()
        calls.delete(id)
      }
    },
    notify: (method, params) => send({ method, ...(params ? { params: params as Params } : {}) }),
    answer: (id, result) => send({ id, result }),
    refuse(id, error) {
      const code = error instanceof RpcError ? error.code : INTERNAL_ERROR
      send({ id, error: { code, message: errorText(error) } })
    },
    receive({ id, method, params = {}, result, error }) {
      if (method !== undefined && id !== undefined) onRequest(id, method, params)
      else if (method !== undefined) onNotification(method, params)
      else if (error) calls.get(id!)?.reject(new RpcError(error.code, wordsOf(error)))
      else calls.get(id!)?.resolve(result)
    },
    end(why) {
      ended ??= why
      for (const { reject } of calls.values()) reject(ended)
    },
  }
}

function wordsOf({ message, data }: { message: string; data?: unknown }): string {
  if (data === undefined || data === null) return message
  return `${message}: ${typeof data === "string" ? data : JSON.stringify(data)}`
}
