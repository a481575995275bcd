import type { Session } from "../../domain/session.ts"
import type { Store, TurnQuery } from "../../domain/store.ts"
import type { Turn } from "../../domain/turn.ts"

/** A session, and up to when it belongs to the conversation. */
export interface ConversationPart {
  session: Session
  untilMs?: number
}

const MOST_PARTS = 8

/**
 * The conversation that a session goes on with, oldest first: what was handed over is kept only where it was said.
 * Other kinds of ancestors are left out, because there the agent copies what was said before by itself.
 */
export async function conversationOf(store: Store, session: Session): Promise<ConversationPart[]> {
  const parts: ConversationPart[] = [{ session }]
  while (parts.length < MOST_PARTS) {
    const edge = (await store.sessions.edges(parts[0]!.session.id)).find(({ kind }) => kind === "handover")
    const parent = edge && (await store.sessions.byNative(edge.parentPlatform, edge.parentNativeId))
    if (!parent || parts.some((part) => part.session.id === parent.id)) break
    parts.unshift({ session: parent, untilMs: edge.atMs })
  }
  return parts
}

/** Turns of the whole conversation; a limit holds for all of it. */
export async function turnsOf(
  store: Store,
  parts: readonly ConversationPart[],
  query: TurnQuery = {},
): Promise<Turn[]> {
  let turns: Turn[] = []
  for (const { session, untilMs } of query.fromStart ? parts : parts.toReversed()) {
    const limit = query.limit === undefined ? {} : { limit: query.limit - turns.length }
    if (limit.limit === 0) break
    const found = await store.turns.ofSession(session.id, {
      ...query,
      ...limit,
      ...(untilMs === undefined ? {} : { untilMs }),
    })
    // Not spread: a session has more turns than a call may have arguments.
    turns = query.fromStart ? turns.concat(found) : found.concat(turns)
  }
  return turns
}
