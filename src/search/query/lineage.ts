import type { Session } from "../../domain/session.ts"
import type { Store, TurnWish } from "../../domain/store.ts"
import type { Turn } from "../../domain/turn.ts"

/** A session, and up to when it belongs to the conversation. */
export interface Chapter {
  session: Session
  untilMs?: number
}

const MOST_CHAPTERS = 8

/**
 * The conversation that a session goes on with, oldest first: what was handed over is kept only where it was said.
 * Other kinds of ancestors are left out, because there the agent copies what was said before by itself.
 */
export async function chaptersOf(store: Store, session: Session): Promise<Chapter[]> {
  const chapters: Chapter[] = [{ session }]
  while (chapters.length < MOST_CHAPTERS) {
    const edge = (await store.sessions.edges(chapters[0]!.session.id)).find(({ kind }) => kind === "handover")
    const parent = edge && (await store.sessions.byNative(edge.parentPlatform, edge.parentNativeId))
    if (!parent || chapters.some((chapter) => chapter.session.id === parent.id)) break
    chapters.unshift({ session: parent, untilMs: edge.atMs })
  }
  return chapters
}

/** Turns of the whole conversation; a limit holds for all of it. */
export async function turnsOf(store: Store, chapters: readonly Chapter[], wish: TurnWish = {}): Promise<Turn[]> {
  let turns: Turn[] = []
  for (const { session, untilMs } of wish.fromStart ? chapters : chapters.toReversed()) {
    const limit = wish.limit === undefined ? {} : { limit: wish.limit - turns.length }
    if (limit.limit === 0) break
    const found = await store.turns.ofSession(session.id, {
      ...wish,
      ...limit,
      ...(untilMs === undefined ? {} : { untilMs }),
    })
    // Not spread: a session has more turns than a call may have arguments.
    turns = wish.fromStart ? turns.concat(found) : found.concat(turns)
  }
  return turns
}
