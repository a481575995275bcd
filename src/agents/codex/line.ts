import { EventEmitter, once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { AgentLine, OpenLine, TakenState } from "../../domain/agent-line.ts"
import { Failure } from "../../domain/failure.ts"
import { MESSAGE_ID } from "../../domain/message.ts"
import { sleep } from "../../lib/clock.ts"
import { defined } from "../../lib/defined.ts"
import { type CodexServer, codexHome, codexProgram, joinDaemon, startServer } from "./line-server.ts"
import { statusOf, type Thread, type ThreadStatus, unlessBug } from "./line-thread.ts"

/**
 * Every message goes into Codex's own queue under its id: exact, durable, in order, one turn each, whether Codex is busy, idle
 * or closed. A turn started past the queue would join the running one. An interrupt halts the queue: avoid it if possible.
 */
export const codex: AgentLine = {
  platform: "codex",
  async open(machine, { nativeId }) {
    const home = codexHome(machine)
    const thread: Seen = { status: { type: "notLoaded" }, changes: new EventEmitter() }
    const daemon = await joinDaemon(home, {
      onEvent(method, { threadId, status }) {
        if (method !== "thread/status/changed" || threadId !== nativeId) return
        thread.status = status as ThreadStatus
        thread.changes.emit("change")
      },
    })
    if (daemon) {
      try {
        thread.status = await readStatus(daemon, nativeId)
        // Fails for a Codex without a queue.
        await queueOf(daemon, nativeId)
      } catch (error) {
        daemon.close()
        if (error instanceof Failure) return undefined
        throw error
      }
      return lineOf(nativeId, thread, (use) => use(daemon), daemon.close)
    }
    const program = codexProgram(machine, home)
    if (program === undefined || !existsSync(join(home, "sessions"))) return undefined
    const withOwn: WithServer = async (use) => {
      const server = await startServer(program, machine, home)
      try {
        return await use(server)
      } finally {
        server.close()
      }
    }
    return lineOf(nativeId, thread, withOwn, () => {})
  },
}

type WithServer = <T>(use: (server: CodexServer) => Promise<T>) => Promise<T>

interface Seen {
  status: ThreadStatus
  changes: EventEmitter
}

interface Queued {
  id: string
  clientUserMessageId: string
}

interface Turn {
  id: string
  status: string
  error?: { message: string } | null
  /** In seconds. */
  startedAt: number | null
  items: { type: string; clientId?: string | null }[]
}

const PAGE = 50
const LOOK_AGAIN_MS = 300
const SETTLE_MS = 5_000
const STEP_MS = 50

function lineOf(threadId: string, thread: Seen, withServer: WithServer, close: () => void): OpenLine {
  let hasInterrupted = false
  return {
    get status() {
      return statusOf(thread.status)
    },
    get isLive() {
      return thread.status.type !== "notLoaded"
    },
    submit: ({ id, text }) =>
      withServer(async (server) => {
        const { queuedSubmission } = await server.ask<{ queuedSubmission: Queued }>("thread/queue/add", {
          threadId,
          clientUserMessageId: id,
          input: [{ type: "text", text }],
        })
        // The message is accepted by now, whatever follows.
        await startQueue(server, threadId, queuedSubmission.id, hasInterrupted).catch(unlessBug)
      }),
    stateOf: (messageId, sinceMs) =>
      withServer(async (server) => {
        const state = await stateOf(server, threadId, messageId, sinceMs)
        if (state.kind !== "none") return state
        // For a moment it is neither in the queue nor in a turn.
        await sleep(LOOK_AGAIN_MS)
        return stateOf(server, threadId, messageId, sinceMs)
      }),
    async changed(withinMs, signal) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
      // The timeout is a normal end.
      await once(thread.changes, "change", { signal: until }).catch(() => {})
    },
    async interrupt() {
      if (thread.status.type === "notLoaded") return
      hasInterrupted = true
      await withServer((server) => endTurn(server, threadId))
    },
    close,
  }
}

/** An interrupt halts the queue until it is started: with our oldest message, or with the one that interrupted. */
async function startQueue(server: CodexServer, threadId: string, queuedId: string, isFirst: boolean): Promise<void> {
  for (const until = Date.now() + SETTLE_MS; Date.now() < until; await sleep(STEP_MS)) {
    const queue = await queueOf(server, threadId)
    if (!queue.some(({ id }) => id === queuedId)) return
    const { type } = await readStatus(server, threadId)
    if (type === "active" || type === "notLoaded") return
    const oldest = queue.find(({ clientUserMessageId }) => clientUserMessageId.match(MESSAGE_ID))?.id
    const queuedSubmissionId = isFirst ? queuedId : (oldest ?? queuedId)
    // Refused if a turn has begun meanwhile, which is fine.
    await server.ask("thread/queue/start", { threadId, queuedSubmissionId }).catch(unlessBug)
  }
}

async function endTurn(server: CodexServer, threadId: string): Promise<void> {
  for (const until = Date.now() + SETTLE_MS; Date.now() < until; await sleep(STEP_MS)) {
    if ((await readStatus(server, threadId)).type !== "active") return
    const { data } = await server.ask<{ data: Turn[] }>("thread/turns/list", { threadId, limit: 1 })
    const running = data.find(({ status }) => status === "inProgress")
    // Refused if it has just ended.
    if (running) await server.ask("turn/interrupt", { threadId, turnId: running.id }).catch(unlessBug)
  }
  throw new Failure("agent_unreachable", `Codex did not end its turn within ${SETTLE_MS} ms`)
}

async function stateOf(server: CodexServer, threadId: string, messageId: string, sinceMs: number): Promise<TakenState> {
  const queue = await queueOf(server, threadId)
  if (queue.some(({ clientUserMessageId }) => clientUserMessageId === messageId)) return { kind: "waiting" }
  for await (const turns of pagesOf<Turn>(server, "thread/turns/list", { threadId, limit: PAGE })) {
    const turn = turns.find(({ items }) => items.some(({ clientId }) => clientId === messageId))
    if (turn) return ended(turn)
    const oldest = turns.at(-1)?.startedAt
    // `startedAt` is in whole seconds.
    if (oldest != null && (oldest + 1) * 1000 < sinceMs) break
  }
  return { kind: "none" }
}

function ended({ status, error }: Turn): TakenState {
  if (status === "failed") return { kind: "failed", ...(error ? { why: error.message } : {}) }
  return { kind: status === "completed" || status === "interrupted" ? status : "running" }
}

async function queueOf(server: CodexServer, threadId: string): Promise<Queued[]> {
  return (await Array.fromAsync(pagesOf<Queued>(server, "thread/queue/list", { threadId }))).flat()
}

async function* pagesOf<T>(server: CodexServer, method: string, params: object): AsyncGenerator<T[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: { data: T[]; nextCursor?: string | null } = await server.ask(method, {
      ...params,
      ...defined({ cursor }),
    })
    yield page.data
    cursor = page.nextCursor ?? null
  }
}

async function readStatus(server: CodexServer, threadId: string): Promise<ThreadStatus> {
  return (await server.ask<{ thread: Thread }>("thread/read", { threadId })).thread.status
}
