import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { Failure } from "../../domain/failure.ts"
import type { LiveSession } from "../../domain/live.ts"
import type { Machine } from "../../domain/platform.ts"
import { lookAt, readText } from "../../lib/untrusted-file.ts"
import { type CodexServer, codexHome, joinDaemon } from "./line-server.ts"
import { codexTerminals } from "./line-terminals.ts"
import { readThread, statusOf, type Thread } from "./line-thread.ts"

/**
 * The sessions that Codex's daemon has open, the most recently shown first. Their process is the daemon, which runs them even
 * without a terminal. Codex does not report which terminal shows which session: per folder, as many sessions as it has
 * terminals count as attended, and at least the last one shown.
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
    const threads = await Promise.all(data.filter(isWritten).map((threadId) => readThread(daemon, threadId)))
    const own = threads
      .filter((thread) => thread !== undefined)
      .filter(({ ephemeral, parentThreadId }) => !ephemeral && parentThreadId === null)
    const shown = await Promise.all(own.map(async (thread) => ({ ...thread, atMs: await shownAtMs(home, thread) })))
    const lastFirst = shown.toSorted((a, b) => b.atMs - a.atMs)
    // Read last: a terminal exists before its session.
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
    // The daemon has gone, or is too old to identify itself.
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
 * Whether a session is stored. Internal sessions for titles are not, stay open, and are slow to query. A Codex without these
 * lock files is asked about all.
 */
async function writtenIn(home: string): Promise<(threadId: string) => boolean> {
  try {
    const locks = new Set(await readdir(join(home, "thread-writer-locks")))
    return (threadId) => locks.has(`${threadId}.lock`)
  } catch {
    return () => true
  }
}

/** A terminal writes a file for each session that it opens. */
async function shownAtMs(home: string, { id, createdAt }: Thread): Promise<number> {
  return lookAt(join(home, "tui-thread-reference-capabilities", id))?.mtimeMs ?? createdAt * 1000
}

/** From the daemon's own pid file; null if that names another process. */
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
