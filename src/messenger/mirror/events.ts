import type { SessionId } from "../../domain/ids.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import { approvalCopyKey, chatLane, type Outgoing } from "../../domain/outgoing.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { restartNote, titled } from "../render/notes.ts"
import { toShow } from "../to-show.ts"
import type { MirrorDeps, MirrorSettings } from "./mirror.ts"
import type { Telling } from "./telling.ts"

/** An approval request is shown at once, whoever asks: a person has to answer it. */
export async function tellPermission(
  tx: Store,
  { telling, settings }: { telling: Telling; settings: Pick<MirrorSettings, "approvals"> },
  { kind, sessionId, data }: JournalEntry,
): Promise<void> {
  const permissionId = String(data.id)
  if (kind === "permission.asked" && settings.approvals) {
    const permission = await tx.permissions.byId(permissionId)
    if (permission?.state !== "waiting") return
    const session = await askerOf(tx, sessionId, data.team)
    const topic = session && (await telling.ensure(tx, session))
    if (topic)
      await telling.put(tx, topic, `card:${permissionId}`, { kind: "approval", topicId: topic.id, permissionId }, true)
  } else if (kind === "permission.decided") {
    const approval = await tx.deliveries.byKey(`tg:card:${permissionId}`)
    const topic = approval && (await tx.topics.byId((approval.payload as { topicId: string }).topicId))
    if (!topic) return
    const decided = { kind: "decided", permissionId } as const
    await telling.put(tx, topic, `decided:${permissionId}`, { ...decided, topicId: topic.id }, true)
    const elsewhere = new Set<string>()
    for (const { chatId } of await tx.people.list(topic.channel))
      if (chatId !== null && (await tx.deliveries.byKey(approvalCopyKey(permissionId, chatId)))) elsewhere.add(chatId)
    // Also in a chat that the session has left.
    for (const { chatId } of await tx.approvalRequests.ofPermission(permissionId, topic.channel)) elsewhere.add(chatId)
    elsewhere.delete(topic.chatId)
    for (const chatId of elsewhere)
      await telling.put(tx, topic, `decided:${permissionId}:${chatId}`, { ...decided, chatId, threadId: null })
  }
}

/** Requests of a team whose session is not known yet are shown where the team is. */
async function askerOf(tx: Store, sessionId: string | null, team: unknown): Promise<Session | undefined> {
  const id = sessionId ?? (typeof team === "string" ? (await tx.presence.byTeam(team))?.sessionId : undefined)
  const session = id == null ? undefined : await tx.sessions.byId(id as SessionId)
  if (!session?.isSubagent) return session
  const edge = (await tx.sessions.edges(session.id)).find(({ kind }) => kind === "subagent")
  return (edge && (await tx.sessions.byNative(edge.parentPlatform, edge.parentNativeId))) ?? session
}

/** A session that continues another shows that by its first turn. Only crashes are reported here. */
const TOLD_ELSEWHERE = /^(?:clear|fork|resume|compact)$/

export async function tellRestart(
  tx: Store,
  { telling, redact }: { telling: Telling; redact(text: string): string },
  { seq, data }: JournalEntry,
  session: Session,
): Promise<void> {
  const word = (name: string) => (typeof data[name] === "string" ? (data[name] as string) : null)
  const [team, cause, next] = [word("team") ?? "", word("cause") ?? "other", word("new")]
  if (TOLD_ELSEWHERE.test(cause)) return
  const topic = next === null ? await telling.find(tx, session) : await telling.ensure(tx, session)
  if (!topic) return
  const restarts = await tx.updates.after(team, { types: ["session_restart"], newest: true, limit: 5 })
  const told = restarts.findLast((update) => update.data.old === data.old && update.data.new === data.new)?.data ?? {}
  const { current_task: task } = (told.task ?? {}) as { current_task?: unknown }
  const body = restartNote({
    ...{ team, cause, old: word("old"), new: next },
    task: typeof task === "string" ? redact(task) : undefined,
    pending: Array.isArray(told.pending) ? told.pending.length : Number(told.pending ?? 0),
  })
  await telling.note(tx, topic, `restart:${topic.id}:${seq}`, body, next === null)
}

/** Sending still works while another program takes the updates. */
export async function tellBot(
  tx: Store,
  { place, clock }: MirrorDeps,
  { seq, kind, atMs }: JournalEntry,
): Promise<void> {
  const at = kind === "bot.conflict" ? await place(tx) : undefined
  if (!at || clock.nowMs() - atMs > RECENT_CONFLICT_MS) return
  const body = titled(
    "⚠️ Another program asks for this bot's messages",
    `Until it stops, ${at.host} does not see what you write here. One bot is for one machine.`,
  )
  const payload: Outgoing = { kind: "answer", chatId: at.chatId, threadId: null, body }
  await tx.deliveries.enqueue(toShow(`tg:bot:${seq}`, chatLane(at.chatId), at.channel, payload), clock.nowMs())
}
const RECENT_CONFLICT_MS = 10 * 60 * 1000
