import type { HookEntry } from "../domain/hook.ts"
import type { Route } from "../domain/live.ts"
import type { PaneAddress, Panes } from "../domain/panes.ts"
import type { Store } from "../domain/store.ts"
import { within } from "../lib/clock.ts"
import { isUnder } from "../lib/process-ancestry.ts"

export type FoundRoute = Omit<Route, "platform" | "nativeId">

export interface RouteDeps {
  store: Pick<Store, "routes">
  panes: Pick<Panes, "identify">
  processStart(pid: number): string | undefined
  parentOf(pid: number): number | undefined
  host: string
  onTrouble(error: unknown, what: string): void
}

/** Throttles writes: there is a hook for every tool call. */
const SEEN_EVERY_MS = 5_000
const IDENTIFY_MS = 1_000

/** Finds the route of a session by its hook. Not for use in a transaction, since it asks tmux. */
export function makeRouteFinder({ store, panes, processStart, parentOf, host, onTrouble }: RouteDeps) {
  const known = new Map<string, FoundRoute & { place: string }>()
  /** Hooks whose pane tmux did not report in time. */
  const unsure = new Map<string, HookEntry>()

  /** Undefined if tmux does not answer in time. */
  const paneOf = async ({ pid, tmux }: HookEntry): Promise<PaneAddress | null | undefined> => {
    if (!tmux) return null
    const asked = panes.identify(tmux).then(
      (address) => ({ address }),
      (error: unknown) => void onTrouble(error, tmux.socket),
    )
    // A hanging server must not delay other sessions.
    const answer = await within(IDENTIFY_MS, asked)
    if (!answer) return undefined
    const { address } = answer
    // The variable is inherited by every child and outlives the server: only the process tree proves the pane.
    if (!address || address.serverPid !== tmux.serverPid || !isUnder(pid, address.panePid, parentOf)) return null
    return address
  }

  /** The last known pane of the same process. It is verified again before anything is typed there. */
  const lastPane = async ({ sessionId, pid }: HookEntry, start: string): Promise<PaneAddress | null> => {
    const stored = await store.routes.ofSession(sessionId)
    const isSame = (route: Route) => route.host === host && route.pid === pid && route.processStart === start
    return stored.find(isSame)?.pane ?? null
  }

  const finder = {
    /** Undefined if there is nothing new to store: the process is gone, or was heard a moment ago. */
    async find(hook: HookEntry): Promise<FoundRoute | undefined> {
      const start = hook.pid > 0 ? processStart(hook.pid) : undefined
      const key = `${hook.sessionId} ${hook.pid}`
      unsure.delete(key)
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
      const pane = await paneOf(hook)
      if (pane === undefined) unsure.set(key, hook)
      const found = {
        sessionId: hook.sessionId,
        host,
        pid: hook.pid,
        processStart: start,
        pane: pane === undefined ? await lastPane(hook, start) : pane,
        seenAtMs: hook.atMs,
      }
      known.set(key, { ...found, place })
      return found
    },
    /** Retries those that timed out: an idle session has no next hook. */
    async again(): Promise<FoundRoute[]> {
      const hooks = [...unsure.values()]
      for (const { sessionId, pid } of hooks) known.delete(`${sessionId} ${pid}`)
      return (await Promise.all(hooks.map((hook) => finder.find(hook)))).filter((found) => found !== undefined)
    },
  }
  return finder
}
