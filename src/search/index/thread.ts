import type { MessagePort, Worker } from "node:worker_threads"
import { Failure } from "../../domain/failure.ts"
import { after } from "../../lib/clock.ts"
import { type LoopState, loopStates, onLoopChange, reportElsewhere } from "../../lib/supervised-loop.ts"
import { makeThreadPeer, type ThreadPeer } from "../../lib/thread-rpc.ts"
import type { SearchRequest, SearchResult } from "../query/request.ts"
import type { CoreOptions, IndexFacts, SearchCore } from "./core.ts"

/** Client of the index thread, which starts on demand and ends when idle. */
export interface SearchThread extends Omit<IndexThread, "end"> {
  /** Throws once if the thread has died since the last call; later calls restart it. */
  check(): void
  stop(): Promise<void>
}

/** Calls to the thread. */
interface IndexThread {
  search(request: SearchRequest): Promise<SearchResult>
  facts(): Promise<IndexFacts>
  reached(position: number): Promise<void>
  rebuild(): Promise<void>
  wake(): void
  /** The share of time it may spend on indexing. */
  pace(share: number): void
  end(): void
}

/** Events from the thread. */
interface IndexOwner {
  trouble(message: string, what: string): void
  rebuild(reason: string): void
  rest(facts: IndexFacts): void
  idle(): void
  loops(states: LoopState[]): void
}

export interface ThreadOptions {
  start(): Worker
  onTrouble(error: unknown, what: string): void
  onRebuild(reason: string): void
}

/** Wake-ups do not restart a thread that has just died. */
const REST_AFTER_FAILURE_MS = 5_000
const END_MS = 5_000
const THREAD = "search index thread"

const stopping = () => new Failure("daemon_unreachable", "the daemon is stopping")

export function makeSearchThread({ start, onTrouble, onRebuild }: ThreadOptions): SearchThread {
  let thread: { worker: Worker; peer: ThreadPeer<IndexThread> } | undefined
  let ending: Promise<void> | undefined
  let failedAtMs = 0
  let loss: { cause: unknown; isReported: boolean } | undefined
  let stopped = false
  let resting: IndexFacts | undefined
  let paced = 1

  const begin = () => {
    const worker = start()
    const isThis = () => thread?.worker === worker
    const peer = makeThreadPeer<IndexThread>(worker, {
      trouble: (message, what) => onTrouble(new Error(message), what),
      rebuild: onRebuild,
      rest(facts) {
        resting = facts
      },
      idle: () => void (isThis() && peer.pending === 0 && end()),
      loops: (states) => void (isThis() && reportElsewhere(THREAD, states)),
    } satisfies IndexOwner)
    const lose = (cause?: unknown) => {
      if (!isThis()) return
      thread = undefined
      reportElsewhere(THREAD, undefined)
      if (cause !== undefined) {
        failedAtMs = Date.now()
        loss = { cause, isReported: false }
        onTrouble(cause, "the index's thread has ended")
      }
      peer.close(new Failure("internal", "the search index has stopped in the middle of this", {}, { cause }))
    }
    worker.on("error", lose)
    worker.on("exit", (code) => lose(code === 0 ? undefined : new Error(`it ended with code ${code}`)))
    worker.unref()
    if (paced < 1) peer.tell("pace", paced)
    return { worker, peer }
  }
  const ask = async <T>(what: (peer: ThreadPeer<IndexThread>) => Promise<T>): Promise<T> => {
    while (ending && !stopped) await ending
    if (stopped) throw stopping()
    thread ??= begin()
    return what(thread.peer)
  }
  const wake = () => {
    if (ending !== undefined) void ending.then(wake)
    else if (!stopped && (thread || Date.now() - failedAtMs >= REST_AFTER_FAILURE_MS)) {
      thread ??= begin()
      thread.peer.tell("wake")
    }
  }
  /** Lets it finish its write; the next one starts only after it has exited, because both would own the files. */
  const end = (): Promise<void> | undefined => {
    if (!thread) return ending
    const { worker, peer } = thread
    thread = undefined
    reportElsewhere(THREAD, undefined)
    ending = new Promise<void>((resolve) => {
      const cancel = after(END_MS, () => void worker.terminate())
      worker.once("exit", () => {
        cancel()
        ending = undefined
        // Pending calls are rejected.
        peer.close(stopping())
        resolve()
      })
    })
    peer.tell("end")
    return ending
  }

  return {
    search: (request) => ask((peer) => peer.call("search", request)),
    // An idle thread is not restarted only for its facts.
    facts: () => (thread || !resting ? ask((peer) => peer.call("facts")) : Promise.resolve(resting)),
    reached: (position) => ask((peer) => peer.call("reached", position)),
    rebuild: () => ask((peer) => peer.call("rebuild")),
    wake,
    pace(share) {
      if (share === paced) return
      paced = share
      thread?.peer.tell("pace", share)
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

/** Serves the index inside the thread. */
export function serveSearch({
  port,
  makeCore,
  close,
}: {
  port: MessagePort
  makeCore(tell: Pick<CoreOptions, "onTrouble" | "onRebuild" | "onRest">): SearchCore
  close(): Promise<void>
}): void {
  const core = makeCore({
    onTrouble: (error, what) => owner.tell("trouble", stackOf(error), what),
    onRebuild: (reason) => owner.tell("rebuild", reason),
    onRest: (facts) => owner.tell("rest", facts),
  })
  const ending = new AbortController()
  const owner = makeThreadPeer<IndexOwner>(
    port,
    {
      search: (request) => core.search(request),
      facts: () => core.facts(),
      reached: (position) => core.reached(position),
      rebuild: () => core.rebuild(),
      wake: () => core.wake(),
      pace: (share) => core.pace(share),
      end() {
        cancelRest()
        ending.abort()
        void running
          .then(close)
          .catch(() => {})
          .finally(() => port.close())
      },
    } satisfies IndexThread,
    (error, what) => {
      // Its stack is lost on the way to the caller.
      if (Failure.from(error).code === "internal") owner.tell("trouble", stackOf(error), `${what} failed`)
    },
  )
  const tellLoops = () => owner.tell("loops", loopStates())
  onLoopChange(tellLoops)
  let cancelRest = () => {}
  const busy = () => {
    cancelRest()
    if (!ending.signal.aborted) cancelRest = after(IDLE_MS, () => void rest().catch(busy))
  }
  const rest = async () => {
    const { vectors } = await core.facts()
    // Pending vectors keep the thread alive, unless the embedder is failing.
    if (vectors && vectors.missing > 0 && vectors.trouble === null) busy()
    else owner.tell("idle")
  }
  const running = core.run(ending.signal)
  tellLoops()
  busy()
  port.on("message", busy)
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))
