import type { SessionId } from "../../domain/ids.ts"
import type { JournalConsumer, JournalEntry } from "../../domain/journal.ts"
import { lanesOf, MESSAGE_ID } from "../../domain/message.ts"
import type { Activity, Watch } from "../../domain/presence.ts"
import type { Store } from "../../domain/store.ts"
import { type Roster, type Team, teamsOf } from "../../domain/team.ts"
import type { Turn } from "../../domain/turn.ts"
import type { NewUpdate } from "../../domain/update.ts"
import { DAY_MS } from "../../lib/time.ts"

/** Older replies come from an import and are not reported. */
const NEW_MS = DAY_MS
/** Agents that know the queue announce their work like this. */
const ANNOUNCEMENT = /^\[(?:New message received|Responding to|Session restarted)/
/** Replies are captured shortly after the end of the turn. */
const AFTER_DONE_MS = 5_000
const LAST_MESSAGES = 20
/** Databases limit the values of one statement. */
const AT_ONCE = 500

/** Turns journal entries into teams' updates: replies of their agents, and states of their messages. */
export function updatesConsumer(roster: Roster, watch: Pick<Watch, "reportTakeovers">): JournalConsumer {
  return {
    name: "reach.updates",
    kinds: ["turns.kept", "message."],
    // A restart is reported before the new session's messages and replies.
    before: (entries) => watch.reportTakeovers(entries.flatMap(activityOf)),
    async after(entries, store) {
      if (roster.list().length === 0) return
      const updates: NewUpdate[] = []
      for (const entry of entries) {
        if (entry.kind === "turns.kept") updates.push(...(await repliesOf(store, roster, entry)))
        else if (entry.kind.startsWith("message.")) updates.push(...stateOf(roster, entry))
      }
      for (let at = 0; at < updates.length; at += AT_ONCE) await store.updates.add(updates.slice(at, at + AT_ONCE))
    },
  }
}

function activityOf({ kind, sessionId, data, atMs }: JournalEntry): Activity[] {
  const isGiven = kind.startsWith("message.") && typeof data.team === "string"
  if (sessionId === null || (kind !== "turns.kept" && !isGiven)) return []
  return [{ sessionId: sessionId as SessionId, isGiven, atMs }]
}

async function repliesOf(store: Store, roster: Roster, { sessionId, data, atMs }: JournalEntry): Promise<NewUpdate[]> {
  const session = sessionId === null ? undefined : await store.sessions.byId(sessionId as SessionId)
  if (!session || session.isSubagent) return []
  const teams = teamsOf(roster, session)
  if (teams.length === 0) return []
  const changed = new Set((data.changed ?? []) as number[])
  const fresh = ((data.seqs ?? []) as number[]).filter((seq) => !changed.has(seq))
  const replies = (await store.turns.bySeqs(fresh)).filter(
    (turn) => turn.kind === "reply" && turn.text.trim() !== "" && atMs - turn.atMs < NEW_MS,
  )
  replies.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
  const updates: NewUpdate[] = []
  for (const team of teams) {
    for (const turn of replies) {
      const messageIds = await answered(store, team, turn)
      for (const [index, messageId] of messageIds.entries())
        updates.push({
          team: team.name,
          key: `reply:${team.name}:${turn.seq}${index === 0 ? "" : `:${messageId}`}`,
          type: ANNOUNCEMENT.test(turn.text) ? "announcement" : "reply",
          messageId,
          sessionId: session.id,
          turnSeq: turn.seq,
          data: {},
          atMs: turn.atMs,
        })
    }
  }
  return updates
}

/**
 * The message it names, or else the last one delivered to the session and not done by then. Messages that the agent
 * fetched in the same turn are all answered by it.
 */
async function answered(store: Store, { name }: Team, turn: Turn): Promise<(string | null)[]> {
  const named = ANNOUNCEMENT.test(turn.text) ? turn.text.slice(0, 500).match(MESSAGE_ID)?.[0] : undefined
  if (named !== undefined) return [named]
  const lanes = [...lanesOf({ team: name }), ...lanesOf({ sessionId: turn.sessionId })]
  const last = await store.deliveries.ofLanes(lanes, { last: LAST_MESSAGES })
  const given = last.filter(
    ({ sessionId, attemptStartedAtMs, state, settledAtMs }) =>
      sessionId === turn.sessionId &&
      attemptStartedAtMs !== null &&
      attemptStartedAtMs <= turn.atMs &&
      (state !== "done" || settledAtMs === null || turn.atMs <= settledAtMs + AFTER_DONE_MS),
  )
  const newest = given.at(-1)
  if (newest?.route !== "pull") return [newest?.key ?? null]
  const sinceMs = await promptedAtMs(store, turn)
  const fetched = given.filter(({ route, attemptStartedAtMs }) => route === "pull" && attemptStartedAtMs! >= sinceMs)
  return fetched.length === 0 ? [newest.key] : fetched.map(({ key }) => key)
}

/** The start of the turn. Without it, an agent whose turns have no known end would answer everything it ever fetched. */
async function promptedAtMs(store: Store, { sessionId, atMs }: Turn): Promise<number> {
  const prompts = await store.turns.ofSession(sessionId, { kinds: ["prompt"], limit: LAST_MESSAGES, maxChars: 1 })
  return Math.max(0, ...prompts.flatMap((prompt) => (prompt.atMs <= atMs ? [prompt.atMs] : [])))
}

function stateOf(roster: Roster, { seq, sessionId, data, atMs }: JournalEntry): NewUpdate[] {
  const { id, team, state, rung, reason } = data
  if (typeof team !== "string" || !roster.byName(team)) return []
  return [
    {
      team,
      key: `journal:${seq}`,
      type: "message_state",
      messageId: String(id),
      // Without its session, so that the state of a message is reported even if the session is forgotten.
      sessionId: null,
      turnSeq: null,
      data: { state, ...(rung == null ? {} : { rung }), ...(reason == null ? {} : { reason }), session: sessionId },
      atMs,
    },
  ]
}
