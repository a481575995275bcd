import { type Exchange, exchangesOf } from "../../domain/exchange.ts"
import { type ProjectId, promptHash, type SessionId } from "../../domain/ids.ts"
import type { JournalConsumer } from "../../domain/journal.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"

/** An exchange that an agent logs through our tool, although its own files are read too. */
export interface HandLogged {
  platform: string
  projectId: ProjectId | null
  user: string
  ai: string
  atMs: number
}

/** Agents log during a turn or right after it; later, the same prompt is another exchange. */
const NEAR_MS = 10 * 60 * 1000
/** A logged exchange is recent: it is near the end of one of the newest sessions. */
const MOST_SESSIONS = 30
const MOST_TURNS = 400
const SAID = ["prompt", "reply", "summary"] as const

/** The same exchange as captured from the agent's own files. */
export async function twinOf(
  store: Store,
  logged: HandLogged,
): Promise<{ session: Session; exchange: Exchange } | undefined> {
  const { platform, projectId } = logged
  const sessions = await store.sessions.list({ platform, subagents: false, limit: MOST_SESSIONS })
  for (const session of sessions.filter((one) => mayBeSame(one.projectId, projectId))) {
    const exchange = (await said(store, session.id)).findLast((one) => isSame(one, logged))
    if (exchange) return { session, exchange }
  }
  return undefined
}

/** Drops logged exchanges once the agent's own files have them. */
export function twinsConsumer({ onDropped, nowMs }: { onDropped(): void; nowMs(): number }): JournalConsumer {
  return {
    name: "capture.twins",
    kinds: ["turns.kept"],
    async after(entries, store) {
      const ids = entries.flatMap(({ kind, sessionId }) => (kind === "turns.kept" && sessionId ? [sessionId] : []))
      const sessions = await store.sessions.byIds([...new Set(ids)] as SessionId[])
      for (const [platform, grown] of Map.groupBy(sessions, (session) => session.platform)) {
        const logged = await store.sessions.loggedBy(platform)
        for (const session of logged.length === 0 ? [] : grown)
          for (const other of logged.filter(({ projectId }) => mayBeSame(session.projectId, projectId)))
            if (await dropTwins(store, session, other.id, nowMs())) onDropped()
      }
    },
  }
}

/** Recorded as forgotten, so that reading the log file again does not restore them. */
async function dropTwins(store: Store, own: Session, loggedId: SessionId, nowMs: number): Promise<boolean> {
  const captured = await said(store, own.id)
  const turns = await store.turns.ofSession(loggedId, { kinds: SAID, limit: MOST_TURNS })
  const seqs: number[] = []
  for (const { id, user, ai, atMs } of exchangesOf(turns)) {
    const place = turns.findIndex(({ seq }) => seq === Number(id))
    const next = turns.findIndex(({ kind }, index) => index > place && kind === "prompt")
    const logged = { platform: own.platform, projectId: own.projectId, user, ai, atMs }
    if (captured.some((one) => isSame(one, logged)))
      seqs.push(...turns.slice(place, next < 0 ? undefined : next).map(({ seq }) => seq))
  }
  if (seqs.length === 0) return false
  await store.forgetting.turns(seqs, nowMs)
  await store.turns.recount([loggedId])
  await store.journal.append([{ kind: "turns.dropped", sessionId: loggedId, atMs: nowMs, data: { seqs } }])
  return true
}

const said = async (store: Store, id: SessionId) =>
  exchangesOf(await store.turns.ofSession(id, { kinds: SAID, limit: MOST_TURNS }))

/** A session without a project may belong to any. */
const mayBeSame = (one: ProjectId | null, other: ProjectId | null) => one === null || other === null || one === other

/** Agents log prompts verbatim, but not always answers. */
function isSame(captured: Exchange, { user, ai, atMs }: Pick<HandLogged, "user" | "ai" | "atMs">): boolean {
  if (captured.user === "" || promptHash(captured.user) !== promptHash(user)) return false
  const isNear = atMs >= captured.atMs - NEAR_MS && atMs <= captured.endedAtMs + NEAR_MS
  return isNear || (captured.ai !== "" && promptHash(captured.ai) === promptHash(ai))
}
