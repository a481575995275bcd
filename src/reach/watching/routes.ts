import { setTimeout as sleep } from "node:timers/promises"
import type { PaneAddress, Panes } from "../../domain/panes.ts"
import type { Route } from "../../domain/route.ts"
import type { HookEntry } from "./hook-entry.ts"

export type FoundRoute = Omit<Route, "platform" | "nativeId">

export interface RouteDeps {
  panes: Pick<Panes, "identify">
  processStart(pid: number): string | undefined
  parentOf(pid: number): number | undefined
  host: string
  onTrouble(error: unknown, what: string): void
}

/** How much younger a route must be to be worth a write: hooks come with every tool that an agent uses. */
const SEEN_EVERY_MS = 5_000
const IDENTIFY_MS = 1_000
/** Deeper than shells and wrappers between a pane and its agent ever are. */
const MAX_DEPTH = 32

/** Where a session that spoke by a hook is reached. Outside of transactions: tmux is asked. */
export function makeRouteFinder({ panes, processStart, parentOf, host, onTrouble }: RouteDeps) {
  const known = new Map<string, FoundRoute & { place: string }>()

  const paneOf = async ({ pid, tmux }: HookEntry): Promise<PaneAddress | null> => {
    if (!tmux) return null
    const asked = panes.identify(tmux).catch((error: unknown) => {
      onTrouble(error, tmux.socket)
      return undefined
    })
    // A server that hangs must not keep other sessions waiting; the next hook asks again.
    const address = await Promise.race([asked, sleep(IDENTIFY_MS, undefined, { ref: false })])
    // A variable is inherited by whatever is started there, and outlives the server: only the processes are proof.
    if (!address || address.serverPid !== tmux.serverPid || !isUnder(pid, address.panePid, parentOf)) return null
    return address
  }

  return {
    /** Undefined when there is nothing new to keep: the process is gone, or it was heard a moment ago. */
    async find(hook: HookEntry): Promise<FoundRoute | undefined> {
      const start = hook.pid > 0 ? processStart(hook.pid) : undefined
      const key = `${hook.sessionId} ${hook.pid}`
      if (start === undefined || hook.end !== undefined) {
        known.delete(key)
        return undefined
      }
      const place = JSON.stringify(hook.tmux ?? null)
      const before = known.get(key)
      const isSame = before?.processStart === start && before.place === place && hook.start === undefined
      if (isSame && (before.pane !== null || !hook.tmux)) {
        if (hook.atMs - before.seenAtMs < SEEN_EVERY_MS) return undefined
        before.seenAtMs = hook.atMs
        return before
      }
      const found = {
        sessionId: hook.sessionId,
        host,
        pid: hook.pid,
        processStart: start,
        pane: await paneOf(hook),
        seenAtMs: hook.atMs,
      }
      known.set(key, { ...found, place })
      return found
    },
  }
}

/** Whether a process is another one, or was started by it, directly or not. */
export function isUnder(pid: number, above: number, parentOf: (pid: number) => number | undefined): boolean {
  let at: number | undefined = pid
  for (let depth = 0; at !== undefined && at > 1 && depth < MAX_DEPTH; depth++) {
    if (at === above) return true
    at = parentOf(at)
  }
  return false
}
