import type { MessagePort } from "node:worker_threads"
import { Failure, type FailureBody } from "../domain/failure.ts"

/** One end of a conversation between two threads: each calls what the other serves. */
export interface ThreadPeer<Theirs extends Methods<Theirs>> {
  call<K extends keyof Theirs & string>(
    what: K,
    ...given: Parameters<Theirs[K]>
  ): Promise<Awaited<ReturnType<Theirs[K]>>>
  /** Without an answer. */
  tell<K extends keyof Theirs & string>(what: K, ...given: Parameters<Theirs[K]>): void
  /** Calls without an answer yet. */
  readonly pending: number
  /** The other side is gone: pending calls are rejected, and nothing more is heard. */
  close(why: Error): void
}

type Methods<T> = { [K in keyof T]: (...given: never[]) => unknown }
type Message =
  | { id?: number; what: string; given: unknown[] }
  | { id: number; value: unknown }
  | { id: number; failure: FailureBody }

/** What is thrown crosses as a Failure, without its stack: `onError` hears of it where the stack means something. */
export function makeThreadPeer<Theirs extends Methods<Theirs>>(
  port: Pick<MessagePort, "postMessage"> & { on(event: "message", listener: (message: Message) => void): unknown },
  ours: Record<string, (...given: never[]) => unknown>,
  onError: (error: unknown, what: string) => void = () => {},
): ThreadPeer<Theirs> {
  const calls = new Map<number, PromiseWithResolvers<never>>()
  let lastId = 0
  let closed: Error | undefined
  const send = (message: Message) => port.postMessage(message)

  const serve = async (what: string, given: unknown[], id: number | undefined) => {
    try {
      const value = await ours[what]!(...(given as never[]))
      if (id !== undefined) send({ id, value })
    } catch (error) {
      onError(error, what)
      if (id !== undefined) send({ id, failure: Failure.from(error).toJSON() })
    }
  }
  port.on("message", (message) => {
    if (closed) return
    if ("what" in message) return void serve(message.what, message.given, message.id)
    const call = calls.get(message.id)
    calls.delete(message.id)
    if ("failure" in message) call?.reject(Failure.fromBody(message.failure))
    else call?.resolve(message.value as never)
  })

  return {
    call(what, ...given) {
      if (closed) return Promise.reject(closed)
      const id = ++lastId
      const call = Promise.withResolvers<never>()
      calls.set(id, call)
      send({ id, what, given })
      return call.promise
    },
    tell: (what, ...given) => send({ what, given }),
    get pending() {
      return calls.size
    },
    close(why) {
      closed ??= why
      for (const { reject } of calls.values()) reject(why)
      calls.clear()
    },
  }
}
