import { Failure } from "../domain/failure.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import type { Thought } from "../domain/thought.ts"
import { defined } from "../lib/defined.ts"

/** As JSON, a page of load_context stays below the 50,000 characters that Claude Code accepts from one call. */
const PAGE_THOUGHTS = 500
const PAGE_CHARS = 45_000
const CHARS_AROUND_A_THOUGHT = 180

export interface ThoughtsPage {
  /** In the order of recording. */
  thoughts: Thought[]
  total: number
  /** Pass it to get the page before this one. */
  olderCursor: string | null
}

/** As many of the newest thoughts as fit, in the order of recording. */
export async function pageOf(
  store: Store,
  session: Session,
  beforeSeq: number | undefined,
  limit: number | undefined,
): Promise<ThoughtsPage> {
  const newest = await store.thoughts.page(session.id, {
    limit: (limit ?? PAGE_THOUGHTS) + 1,
    ...defined({ beforeSeq }),
  })
  const thoughts: Thought[] = []
  let chars = 0
  for (const thought of newest.slice(0, limit ?? PAGE_THOUGHTS)) {
    chars += JSON.stringify(thought.text).length + CHARS_AROUND_A_THOUGHT
    if (thoughts.length > 0 && chars > PAGE_CHARS) break
    thoughts.push(thought)
  }
  const olderCursor = thoughts.length < newest.length ? String(thoughts.at(-1)!.seq) : null
  return { thoughts: thoughts.reverse(), total: session.thoughtCount, olderCursor }
}

/** The oldest thought of the previous page. It identifies the session too: another may be the newest by now. */
export async function cursorThought(store: Store, cursor: string): Promise<Thought> {
  const seq = /^\d{1,15}$/.test(cursor) ? Number(cursor) : undefined
  const thought = seq === undefined ? undefined : (await store.thoughts.bySeqs([seq]))[0]
  if (!thought) throw notOurCursor(cursor, "that load_context returned")
  return thought
}

export function notOurCursor(cursor: string | undefined, which: string): Failure {
  return new Failure("bad_input", `cursor is not one ${which}: ${JSON.stringify(cursor)}`, { parameter: "cursor" })
}
