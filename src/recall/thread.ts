import type { MessagePort, Worker } from "node:worker_threads"
import { Failure, type FailureBody } from "../domain/failure.ts"
import { type LoopState, loopStates, onLoopChange, reportElsewhere } from "../lib/supervised-loop.ts"
import type { CoreOptions, IndexFacts, RecallCore } from "./core.ts"
import type { Found, SearchWish } from "./search/wish.ts"

/** The index, asked from another thread. It is started when there is something to do, and ends when there is not. */
export interface RecallThread {
  search(wish: SearchWish): Promise<Found>
  facts(): Promise<IndexFacts>
  reached(position: number): Promise<void>
  rebuild(): Promise<void>
  wake(): void
  /** Which share of the time it may index. */
  pace(share: number): void
  /** Throws once when the thread has ended by itself since the last call; later calls start it again. */
  check(): void
  stop(): Promise<void>
}

type Asked = "search" | "facts" | "reached" | "rebuild"
type ToThread =
  | { type: "ask"; id: number; what: Asked; with: unknown }
  | { type: "wake" }
  | { type: "pace"; share: number }
  | { type: "end" }
type FromThread =
  | { type: "answer"; id: number; value: unknown }
  | { type: "failed"; id: number; failure: FailureBody }
  | { type: "trouble"; message: string; what: string }
  | { type: "rebuild"; reason: string }
  | { type: "rest"; facts: IndexFacts }
  | { type: "idle" }
  | { type: "loops"; states: LoopState[] }

export interface ThreadOptions {
  start(): Worker
  onTrouble(error: unknown, what: string): void
  onRebuild(reason: string): void
}

/** A thread that has just failed is not started again at once by every wake-up. */
const REST_AFTER_FAILURE_MS = 5_000
const END_MS = 5_000
const THREAD = "search index thread"

const stopping = () => new Failure("daemon_unreachable", "the daemon is stopping")

export function makeRecallThread({ start, onTrouble, onRebuild }: ThreadOptions): RecallThread {
  const asked = new Map<number, { resolve(value: never): void; reject(error: unknown): void }>()
  let thread: Worker | undefined
  let ending: Promise<void> | undefined
  let failedAtMs = 0
  let loss: { cause: unknown; isReported: boolean } | undefined
  let stopped = false
  let lastId = 0
  let resting: IndexFacts | undefined
  let paced = 1

  const begin = (): Worker => {
    const started = start()
    started.on("message", (message: FromThread) => hear(message, started))
    started.on("error", (error) => lose(started, error))
    started.on("exit", (code) => lose(started, code === 0 ? undefined : new Error(`it ended with code ${code}`)))
    started.unref()
    if (paced < 1) started.postMessage({ type: "pace", share: paced } satisfies ToThread)
    return started
  }
  const lose = (lost: Worker, cause?: unknown) => {
    if (lost !== thread) return
    thread = undefined
    reportElsewhere(THREAD, undefined)
    if (cause !== undefined) {
      failedAtMs = Date.now()
      loss = { cause, isReported: false }
      onTrouble(cause, "the index's thread has ended")
    }
    refuseAll(new Failure("internal", "the search index has stopped in the middle of this", {}, { cause }))
  }
  const refuseAll = (failure: Failure) => {
    for (const { reject } of asked.values()) reject(failure)
    asked.clear()
  }
  const hear = (message: FromThread, from: Worker) => {
    if (message.type === "trouble") onTrouble(new Error(message.message), message.what)
    else if (message.type === "rebuild") onRebuild(message.reason)
    else if (message.type === "rest") resting = message.facts
    else if (message.type === "loops") {
      if (from === thread) reportElsewhere(THREAD, message.states)
    } else if (message.type === "idle") {
      if (from === thread && asked.size === 0) end()
    } else {
      const waiting = asked.get(message.id)
      asked.delete(message.id)
      if (message.type === "answer") waiting?.resolve(message.value as never)
      else waiting?.reject(Failure.fromBody(message.failure))
    }
  }
  const ask = <T>(what: Asked, given: unknown): Promise<T> => {
    if (stopped) return Promise.reject(stopping())
    if (ending) return ending.then(() => ask(what, given))
    thread ??= begin()
    const id = ++lastId
    return new Promise<T>((resolve, reject) => {
      asked.set(id, { resolve: resolve as (value: never) => void, reject })
      thread!.postMessage({ type: "ask", id, what, with: given } satisfies ToThread)
    })
  }
  const wake = () => {
    if (ending) void ending.then(wake)
    else if (!stopped && (thread || Date.now() - failedAtMs >= REST_AFTER_FAILURE_MS)) {
      thread ??= begin()
      thread.postMessage({ type: "wake" } satisfies ToThread)
    }
  }
  /** It must not be cut off while it writes, nor meet another one on the same files: the next begins when it is gone. */
  const end = (): Promise<void> | undefined => {
    const ended = thread
    if (!ended) return ending
    thread = undefined
    reportElsewhere(THREAD, undefined)
    ending = new Promise<void>((resolve) => {
      const timer = setTimeout(() => void ended.terminate(), END_MS)
      ended.once("exit", () => {
        clearTimeout(timer)
        ending = undefined
        // It was not waited for what they asked.
        refuseAll(stopping())
        resolve()
      })
    })
    ended.postMessage({ type: "end" } satisfies ToThread)
    return ending
  }

  return {
    search: (wish) => ask("search", wish),
    // A thread that has ended had nothing left to do, and is not started only to say so again.
    facts: () => (thread || !resting ? ask("facts", undefined) : Promise.resolve(resting)),
    reached: (position) => ask("reached", position),
    rebuild: () => ask("rebuild", undefined),
    wake,
    pace(share) {
      if (share === paced) return
      paced = share
      thread?.postMessage({ type: "pace", share } satisfies ToThread)
    },
    check() {
      if (thread) loss = undefined
      if (!loss) return
      if (loss.isReported) return wake()
      loss.isReported = true
      throw loss.cause
    },
    async stop() {
      stopped = true
      await end()
    },
  }
}

const IDLE_MS = 30_000

/** The other side: what runs in the thread. */
export function serveRecall({
  port,
  makeCore,
  close,
}: {
  port: MessagePort
  makeCore(tell: Pick<CoreOptions, "onTrouble" | "onRebuild" | "onRest">): RecallCore
  close(): Promise<void>
}): void {
  const say = (message: FromThread) => port.postMessage(message)
  const core = makeCore({
    onTrouble: (error, what) => say({ type: "trouble", message: stackOf(error), what }),
    onRebuild: (reason) => say({ type: "rebuild", reason }),
    onRest: (facts) => say({ type: "rest", facts }),
  })
  onLoopChange(() => say({ type: "loops", states: loopStates() }))
  const ending = new AbortController()
  let idle: NodeJS.Timeout | undefined
  const busy = () => {
    clearTimeout(idle)
    idle = setTimeout(() => void rest().catch(() => busy()), IDLE_MS)
  }
  const rest = async () => {
    const { vectors } = await core.facts()
    // Vectors that are being made are worth a thread; those that cannot be made now are tried again when it is needed.
    if (vectors && vectors.missing > 0 && vectors.trouble === null) busy()
    else say({ type: "idle" })
  }
  const running = core.run(ending.signal)
  say({ type: "loops", states: loopStates() })
  const answers: Record<Asked, (given: never) => Promise<unknown>> = {
    search: (wish: SearchWish) => core.search(wish),
    facts: () => core.facts(),
    reached: (position: number) => core.reached(position),
    rebuild: () => core.rebuild(),
  }
  busy()
  port.on("message", (message: ToThread) => {
    busy()
    if (message.type === "wake") return core.wake()
    if (message.type === "pace") return core.pace(message.share)
    if (message.type === "end") {
      clearTimeout(idle)
      ending.abort()
      void running
        .then(close)
        .catch(() => {})
        .finally(() => port.close())
      return
    }
    const { id } = message
    answers[message.what](message.with as never).then(
      (value) => say({ type: "answer", id, value }),
      (error: unknown) => {
        const failure = Failure.from(error)
        // The stack stays here, where it means something.
        if (failure.code === "internal")
          say({ type: "trouble", message: stackOf(error), what: `${message.what} failed` })
        say({ type: "failed", id, failure: failure.toJSON() })
      },
    )
  })
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))
