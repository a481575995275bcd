/** What other modules may use of search: hits, briefs and handoffs. */
import type { HookEvent } from "../domain/hook.ts"
import type { Project } from "../domain/project.ts"
import type { Store } from "../domain/store.ts"
import type { TokenCounter } from "../domain/tokens.ts"
import { superviseLoop } from "../lib/supervised-loop.ts"
import { type Briefs, makeBriefs } from "./brief/brief.ts"
import { type BriefContextSettings, makeBriefContext } from "./brief/start-context.ts"
import { makeCatchUp } from "./index/catch-up.ts"
import type { IndexFacts } from "./index/core.ts"
import { makeSearchThread, type ThreadOptions } from "./index/thread.ts"
import type { SearchRequest, SearchResult } from "./query/request.ts"
export interface SearchModule {
  search(request: SearchRequest): Promise<SearchResult>
  briefs: Briefs
  tokens(text: string): number
  /** The project's state for a new session; undefined if there is none. */
  startContext(begun: { platform: string; event: HookEvent; project: Project | undefined }): Promise<string | undefined>
  facts(): Promise<IndexFacts>
  /** Resolves when everything written before this start is in the archive, or a few seconds after the start. */
  caughtUp(): Promise<void>
  /** Rebuilds the index from the archive. */
  rebuild(): Promise<void>
  /** Resolves when the index has processed all forgets. */
  forgotten(): Promise<void>
  /** Follows the journal until aborted. */
  run(signal: AbortSignal): Promise<void>
}

const PACE_MS = 1_000
/** Share of the time used while busy; the newest sessions come first and stay searchable. */
const BUSY_SHARE = 0.01

export interface SearchDeps extends ThreadOptions {
  store: Store
  tokens: TokenCounter
  labelOf(platform: string): string
  startContext: BriefContextSettings
  /** During imports the index is throttled, to leave the CPU to them. */
  isBusy(): boolean
  /** Resolves when what agents wrote while no daemon was running is in the archive. */
  imported: Promise<void>
}

export function makeSearch({
  store,
  tokens,
  labelOf,
  startContext,
  isBusy,
  imported,
  ...options
}: SearchDeps): SearchModule {
  const thread = makeSearchThread(options)
  const archive = makeCatchUp(imported)
  const index = makeCatchUp(imported.then(() => store.journal.last()).then(thread.reached))
  const read = makeBriefs({
    store,
    tokens,
    labelOf,
    async find(query, where, limit) {
      const { hits } = await thread.search({ query, limit, ...where })
      return hits
        .filter(({ thought }) => !thought)
        .map(({ exchange, session, score }) => ({ exchange, sessionId: session.id, score }))
    },
  })
  const briefs: Briefs = {
    make: (request) => archive.wait().then(() => read.make(request)),
    pointer: (request) => archive.wait().then(() => read.pointer(request)),
  }
  return {
    async search(request) {
      await index.wait()
      const found = await thread.search(request)
      if (index.isDone()) return found
      return { ...found, isComplete: false, notes: [...new Set([...found.notes, IMPORTING])] }
    },
    briefs,
    caughtUp: archive.wait,
    tokens: (text) => tokens.count(text),
    startContext: makeBriefContext({ store, briefs, settings: startContext }),
    facts: () => thread.facts(),
    rebuild: () => thread.rebuild(),
    forgotten: async () => thread.reached(await store.journal.last()),
    async run(signal) {
      const off = store.onWake(() => thread.wake())
      thread.wake()
      await superviseLoop({
        name: "search index thread",
        signal,
        everyMs: PACE_MS,
        round() {
          thread.check()
          thread.pace(isBusy() ? BUSY_SHARE : 1)
        },
        // The thread's own end has been reported already.
        onTrouble: () => {},
      })
      off()
      await thread.stop()
    },
  }
}

const IMPORTING = "Conversations are still being imported; something may be missing."
