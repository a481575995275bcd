import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { Failure } from "../../domain/failure.ts"
import type { LiveSession } from "../../domain/live.ts"
import type { Machine } from "../../domain/platform.ts"
import { lookAt, readText } from "../../lib/untrusted-file.ts"
import { type CodexServer, codexHome, joinDaemon } from "./line-server.ts"
import { codexTerminals } from "./line-terminals.ts"
import { statusOf, type Thread } from "./line-thread.ts"

/**
 * The sessions that Codex's daemon has open, the one that a terminal showed last first. Their process is the daemon's: it is
 * what runs them, also when their terminal is closed. Codex does not tell which terminal shows which session now: of a
 * folder's sessions as many as it has terminals count as those that somebody sits at, and at least the one shown last.
 */
export async function codexLive(machine: Machine): Promise<LiveSession[]> {
  const home = codexHome(machine)
  const daemon = await joinDaemon(home)
  if (!daemon) return []
  try {
    const pid = await pidOf(daemon)
    const start = await startOf(home, pid, machine.os)
    const { data } = await daemon.ask<{ data: string[] }>("thread/loaded/list")
    const isWritten = await writtenIn(home)
    const threads = await Promise.all(data.filter(isWritten).map((threadId) => read(daemon, threadId)))
    const own = threads
      .filter((thread) => thread !== undefined)
      .filter(({ ephemeral, parentThreadId }) => !ephemeral && parentThreadId === null)
    const shown = await Promise.all(own.map(async (thread) => ({ ...thread, atMs: await shownAtMs(home, thread) })))
    const lastFirst = shown.toSorted((a, b) => b.atMs - a.atMs)
    // Looked at last: a terminal is there before its session.
    const terminals = codexTerminals(machine.os)
    const ranks = new Map<string, number>()
    return lastFirst.map(({ id, cwd, status }) => {
      const rank = ranks.get(cwd) ?? 0
      ranks.set(cwd, rank + 1)
      const count = terminals.get(cwd) ?? 0
      return {
        platform: "codex",
        nativeId: id,
        pid,
        processStart: start,
        cwd,
        status: statusOf(status),
        waitingFor: status.type === "active" ? (status.activeFlags[0] ?? null) : null,
        statusAtMs: null,
        isUnattended: rank >= Math.max(1, count),
        isShown: rank < count,
      }
    })
  } catch (error) {
    // Gone in the middle, or too old to say who it is.
    if (error instanceof Failure) return []
    throw error
  } finally {
    daemon.close()
  }
}

async function pidOf(daemon: CodexServer): Promise<number> {
  return (await daemon.ask<{ process: { id: number } }>("server/diagnostics")).process.id
}

/**
 * Whether a session is written down. Those that Codex makes aside for titles are not, stay open turn after turn, and take it
 * long to tell of; a Codex without these files is asked about all.
 */
async function writtenIn(home: string): Promise<(threadId: string) => boolean> {
  try {
    const locks = new Set(await readdir(join(home, "thread-writer-locks")))
    return (threadId) => locks.has(`${threadId}.lock`)
  } catch {
    return () => true
  }
}

/** Undefined when it was closed since it was listed. */
async function read(daemon: CodexServer, threadId: string): Promise<Thread | undefined> {
  try {
    return (await daemon.ask<{ thread: Thread }>("thread/read", { threadId })).thread
  } catch (error) {
    if (error instanceof Failure && error.code === "agent_refused") return undefined
    throw error
  }
}

/** A terminal leaves a file for each session that it opens. */
async function shownAtMs(home: string, { id, createdAt }: Thread): Promise<number> {
  return lookAt(join(home, "tui-thread-reference-capabilities", id))?.mtimeMs ?? createdAt * 1000
}

/** As the daemon wrote it down for itself; null when that was about another process. */
async function startOf(home: string, pid: number, os: Machine["os"]): Promise<string | null> {
  try {
    const written = JSON.parse(readText(join(home, "app-server-daemon", "daemon.pid"), { links: "own" })) as {
      pid: number
      processStartTime: string
      processIdentity?: { startTicks?: number }
    }
    if (written.pid !== pid) return null
    return os === "linux" ? String(written.processIdentity?.startTicks ?? "") || null : written.processStartTime
  } catch {
    return null
  }
}
