import { existsSync } from "node:fs"
import { join } from "node:path"
import { ANSWERED, type LineAsking } from "../../domain/agent-line.ts"
import { pause, sleep } from "../../lib/clock.ts"
import type { RequestId } from "../../lib/json-rpc.ts"
import { codexAnswer, codexQuestion } from "./driver-approval.ts"
import type { Item } from "./driver-turn.ts"
import { type CodexServer, codexHome, joinDaemon } from "./line-server.ts"
import { readThread, type Thread, type ThreadStatus, unlessBug } from "./line-thread.ts"

/**
 * Codex's daemon tells all clients which session waits for an approval, and asks every client that opens the session. The
 * first answer closes the terminal's dialog. A client that leaves changes nothing; one that joins is asked again.
 */
export const codexAsking: LineAsking = {
  platform: "codex",
  async follow(machine, heard, signal) {
    const home = codexHome(machine)
    while (!signal.aborted) {
      if (existsSync(join(home, "app-server-control"))) await listen(home, heard, signal)
      await pause(LOOK_MS, signal)
    }
  },
}

const LOOK_MS = 2_000

interface Opened extends Thread {
  turns?: { items: Item[] }[]
}

/** Runs until this daemon is gone. */
async function listen(home: string, heard: Parameters<LineAsking["follow"]>[1], signal: AbortSignal): Promise<void> {
  const ended = new AbortController()
  const threads = new Map<string, Opened>()
  const open = new Map<RequestId, { threadId: string; key: string; over: AbortController }>()
  let server: CodexServer | undefined

  const close = (id: RequestId, reason: string) => {
    open.get(id)?.over.abort(reason)
    open.delete(id)
  }

  const changed = async (threadId: string, status: ThreadStatus) => {
    const isWaiting = status.type === "active" && status.activeFlags.includes("waitingOnApproval")
    if (isWaiting && !threads.has(threadId)) {
      // Set before the call: its requests may arrive ahead of the answer.
      threads.set(threadId, { id: threadId } as Opened)
      const { thread } = await server!.ask<{ thread: Opened }>("thread/resume", { threadId })
      threads.set(threadId, thread)
    } else if (!isWaiting && threads.delete(threadId)) {
      for (const [id, asked] of open) if (asked.threadId === threadId) close(id, ANSWERED)
      // Otherwise all of its output would come here.
      await server!.ask("thread/unsubscribe", { threadId })
    }
  }

  const asked = async (id: RequestId, method: string, params: Record<string, unknown>) => {
    const { threadId, itemId, approvalId } = params as {
      threadId?: string
      itemId?: string
      approvalId?: string | null
    }
    if (threadId === undefined || open.has(id)) return
    const over = new AbortController()
    const key = [threadId, itemId, approvalId, params.turnId].filter(Boolean).join(" ")
    open.set(id, { threadId, key, over })
    const thread = await opened(threads, threadId)
    const item = thread?.turns?.flatMap(({ items }) => items).find((one) => one.id === itemId)
    const request = codexQuestion(method, params, item)
    if (!thread || !request) return
    const nativeId = thread.parentThreadId ?? threadId
    const given = await heard.asked(
      { nativeId, cwd: thread.cwd, key, request },
      AbortSignal.any([over.signal, ended.signal, signal]),
    )
    if (!given || over.signal.aborted || ended.signal.aborted) return
    server!.answer(id, codexAnswer(method, params, given.answer, request))
    await given.taken()
  }

  server = await joinDaemon(home, {
    onEvent(method, params) {
      if (method === "serverRequest/resolved") close(params.requestId as RequestId, ANSWERED)
      if (method === "thread/status/changed")
        changed(String(params.threadId), params.status as ThreadStatus).catch(unlessBug)
    },
    onRequest: (id, method, params) => void asked(id, method, params).catch(unlessBug),
    onEnd: () => ended.abort(),
  })
  if (!server) return
  const stop = AbortSignal.any([ended.signal, signal])
  try {
    // Sessions that were waiting before we joined.
    const { data } = await server.ask<{ data: string[] }>("thread/loaded/list")
    for (const threadId of data) {
      const thread = await readThread(server, threadId)
      if (thread) await changed(threadId, thread.status)
    }
    // An opened session asks again, unless it waits for something other than an approval.
    const hasAsked = (threadId: string) => [...open.values()].some((one) => one.threadId === threadId)
    for (const untilMs = performance.now() + OPEN_MS; performance.now() < untilMs; await sleep(STEP_MS))
      if (stop.aborted || [...threads.keys()].every(hasAsked)) break
    if (!stop.aborted) heard.caughtUp([...open.values()].map(({ key }) => key))
  } catch (error) {
    unlessBug(error)
  }
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }))
  server.close()
}

const OPEN_MS = 5_000
const STEP_MS = 20

/** A request may arrive before its thread's details. */
async function opened(threads: Map<string, Opened>, threadId: string): Promise<Opened | undefined> {
  for (const untilMs = performance.now() + OPEN_MS; performance.now() < untilMs; await sleep(STEP_MS)) {
    const thread = threads.get(threadId)
    if (thread?.cwd !== undefined) return thread
  }
  return undefined
}
