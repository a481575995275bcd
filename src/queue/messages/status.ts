import type { Delivery, DeliveryState } from "../../domain/delivery.ts"
import {
  type Address,
  AGENT_CHANNEL,
  addressOfLane,
  comesBefore,
  lanesOf,
  messageOf,
  targetOf,
} from "../../domain/message.ts"
import type { TargetStatus } from "../../domain/messages.ts"
import type { Hookless } from "../../domain/presence.ts"
import { shownReason } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import { folderUri } from "../../lib/folder-uri.ts"
import { isFinal, WITH_AGENT } from "../../lib/transitions.ts"

const MAX_TASK_CHARS = 200
/** Of a long queue, so many are looked at. */
const MOST_SENDERS_OF = 50

/** How it stands with every team, and with every session that something is under way for. */
export function makeStatus({
  store,
  roster,
  hookless,
}: {
  store: Store
  roster: Roster
  hookless?: Hookless | undefined
}): () => Promise<TargetStatus[]> {
  return async () => {
    const counts = await store.deliveries.counts(AGENT_CHANNEL)
    const sessions = counts.flatMap(({ lane, state }) => (isFinal(state) ? [] : (addressOfLane(lane)?.sessionId ?? [])))
    const targets: Address[] = [
      ...roster.list().map(({ name }) => ({ team: name })),
      ...[...new Set(sessions)].map((sessionId) => ({ sessionId })),
    ]
    return Promise.all(
      targets.map(async (to): Promise<TargetStatus> => {
        const lanes = lanesOf(to)
        const of = (states: readonly DeliveryState[]) =>
          counts
            .filter(({ lane, state }) => lanes.includes(lane) && states.includes(state))
            .reduce((sum, { count }) => sum + count, 0)
        const pending = of(["queued"])
        return {
          target: targetOf(to),
          pending,
          inProgress: of(WITH_AGENT),
          currentTask: (await saidTask(store, roster, to)) ?? (await currentWords(store, lanes)),
          waitsFor: pending === 0 ? null : await whyWaiting(store, lanes),
          from: pending === 0 ? [] : await senders(store, lanes),
          ...((await saidInFile(roster, hookless, to)) ?? (await seen(store, to))),
        }
      }),
    )
  }
}

async function saidTask(store: Store, roster: Roster, { team, sessionId }: Address): Promise<string | null> {
  if (sessionId !== undefined) {
    const session = await store.sessions.byId(sessionId)
    const state = session?.projectId && (await store.taskStates.get(session.projectId, session.nativeId))
    return (state ? state.currentTask : null) || null
  }
  const dir = roster.byName(team)?.projectDir
  const project = dir === undefined ? undefined : await store.projects.byRoot(folderUri(dir))
  return (project && (await store.taskStates.get(project.id))?.currentTask) || null
}

async function currentWords(store: Store, lanes: string[]): Promise<string | null> {
  const [running] = await store.deliveries.ofLanes(lanes, { states: WITH_AGENT, last: 1 })
  if (!running) return null
  const line = messageOf(running).text.replaceAll(/\s+/g, " ").trim()
  return line.length <= MAX_TASK_CHARS ? line : `${line.slice(0, MAX_TASK_CHARS - 1)}…`
}

async function senders(store: Store, lanes: string[]): Promise<string[]> {
  const waiting = await store.deliveries.ofLanes(lanes, { states: ["queued"], first: MOST_SENDERS_OF })
  return [...new Set(waiting.map((delivery) => messageOf(delivery).sender.name))]
}

/** What keeps the next message of these lanes. */
export async function whyWaiting(store: Store, lanes: string[]): Promise<string | null> {
  const heads = await store.deliveries.heads(lanes)
  const next = heads.reduce<Delivery | undefined>(
    (best, one) => (best && comesBefore(best, one) ? best : one),
    undefined,
  )
  return shownReason(next?.outcome ?? null)
}

type Whose = Pick<TargetStatus, "sessionId" | "lastSeenMs" | "isFetched" | "sessionFileAtMs">
const SEEN = { isFetched: false, sessionFileAtMs: null }

/** Undefined where it does not count: a session was seen, or hooks tell of it. */
async function saidInFile(
  roster: Roster,
  hookless: Hookless | undefined,
  { team: name }: Address,
): Promise<Whose | undefined> {
  const team = name === undefined ? undefined : roster.byName(name)
  if (!team || !(await hookless?.fetches(team))) return undefined
  const named = await hookless?.named(team)
  const atMs = named?.writtenAtMs ?? null
  return { sessionId: named?.id ?? null, lastSeenMs: atMs, isFetched: true, sessionFileAtMs: atMs }
}

async function seen(store: Store, { team, sessionId }: Address): Promise<Whose> {
  if (sessionId !== undefined) {
    const session = await store.sessions.byId(sessionId)
    const [route] = await store.routes.ofSession(sessionId)
    const lastSeenMs = route?.seenAtMs ?? session?.updatedAtMs ?? null
    return { sessionId: session?.nativeId ?? null, lastSeenMs, ...SEEN }
  }
  const presence = await store.presence.byTeam(team)
  if (!presence?.sessionId) return { sessionId: null, lastSeenMs: null, ...SEEN }
  const [route] = await store.routes.ofSession(presence.sessionId)
  return { sessionId: presence.nativeId, lastSeenMs: route?.seenAtMs ?? presence.goneAtMs ?? presence.sinceMs, ...SEEN }
}
