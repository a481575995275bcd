import { Failure } from "../../domain/failure.ts"
import type { Machine } from "../../domain/platform.ts"
import { codexLive } from "./line-live.ts"
import { type CodexServer, codexHome, joinDaemon } from "./line-server.ts"

/**
 * Codex's daemon keeps a session open after its last terminal, and its protocol cannot close one. Archiving does, and
 * unarchiving at once restores everything.
 */
export async function closeCodexSession(machine: Machine, nativeId: string): Promise<string | undefined> {
  const live = (await codexLive(machine)).find((session) => session.nativeId === nativeId)
  if (!live) return undefined
  if (live.isShown) return "another terminal has it open"
  const daemon = await joinDaemon(codexHome(machine))
  if (!daemon) return undefined
  try {
    return await archivedAndBack(daemon, nativeId)
  } catch (error) {
    if (error instanceof Failure) return `Codex's shared daemon has it open and did not close it (${error.message})`
    throw error
  } finally {
    daemon.close()
  }
}

async function archivedAndBack(daemon: CodexServer, threadId: string): Promise<string | undefined> {
  await daemon.ask("thread/archive", { threadId })
  try {
    await daemon.ask("thread/unarchive", { threadId })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return `it is in Codex's archive now (${error.message}); to take it out: codex unarchive ${threadId}`
  }
  return undefined
}
