import type { Caller } from "../../domain/caller.ts"
import type { Delivery } from "../../domain/delivery.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { LiveAgent, LiveSessions } from "../../domain/live.ts"
import { mailText } from "../../domain/mail.ts"
import { comesBefore, isTyped, lanesOf } from "../../domain/message.ts"
import type { Hookless, Watch } from "../../domain/presence.ts"
import { because } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import type { Team } from "../../domain/team.ts"
import { type Clock, sleep } from "../../lib/clock.ts"
import { moveOn, settleLeased } from "../../lib/transitions.ts"
import type { MessageLeases } from "../message-leases.ts"

export interface PulledMail {
  mail: { id: string; text: string; atMs: number }[]
  /** More waits: the next call has it. */
  hasMore: boolean
}

const MOST_AT_ONCE = 20
const MOST_CHARS = 60_000
/** The dispatcher looks at a lane for a few milliseconds. */
const LOOKED_AT_MS = 20
const MOST_LOOKS = 50

/** Who fetches: an agent that is seen, or one without hooks, of which no session is known. */
type Fetcher = { agent: LiveAgent } | { agent: undefined }

/** The last way: the team's own agent asks what there is for it. The owner's words go by it where there is no other. */
export function makePulling({
  store,
  clock,
  leases,
  live,
  host,
  watch,
  hookless,
}: {
  store: Store
  clock: Clock
  leases: MessageLeases
  live: LiveSessions
  host: string
  watch: Pick<Watch, "mayReturn" | "reportTakeovers" | "readName">
  hookless: Pick<Hookless, "fetches">
}) {
  /** After `/clear` our server beside the agent still names the session before it: the process is the same. */
  const agentOf = async (agents: readonly LiveAgent[], named: NonNullable<Caller["nativeSession"]>) => {
    const found = agents.find(({ session }) => session.nativeId === named.id)
    if (found) return found
    const before = await store.sessions.byNative(named.platform, named.id)
    const last = before && (await store.runs.ofSession(before.id)).at(-1)
    return last && last.pid > 0 && last.host === host
      ? agents.find(({ session, pid }) => session.platform === named.platform && pid === last.pid)
      : undefined
  }

  /** What two teams have to say to each other is no place for a third one's mail, and a sub-agent is no team's agent. */
  const isOnTheSide = async ({ pair, nativeSession: named }: Caller) =>
    pair !== undefined ||
    (named !== undefined &&
      ((await store.pairs.ofNative(named.id)) !== undefined ||
        (await store.sessions.byNative(named.platform, named.id))?.isSubagent === true))

  const fetcherOf = async (team: Team, caller: Caller): Promise<Fetcher | undefined> => {
    const agents = await live.ofTeam(team)
    const agent = caller.nativeSession ? await agentOf(agents, caller.nativeSession) : agents[0]
    if (agent) return { agent }
    return (await hookless.fetches(team)) && !(await isOnTheSide(caller)) ? { agent: undefined } : undefined
  }

  const beforePull = async (team: Team, caller: Caller): Promise<void> => {
    const fetcher = await fetcherOf(team, caller)
    if (!fetcher) return
    if (!fetcher.agent) return watch.readName(team)
    await watch.reportTakeovers([{ sessionId: fetcher.agent.session.id, isGiven: true, atMs: clock.nowMs() }])
  }

  /** The first of these lanes, in hand. Lanes that cannot be served now are taken off. */
  const takeFirst = async (lanes: Set<string>): Promise<Delivery | undefined> => {
    for (let looks = 0; lanes.size > 0; ) {
      const heads = await store.deliveries.heads([...lanes])
      const head = heads.sort((a, b) => (comesBefore(a, b) ? -1 : 1))[0]
      if (!head) return undefined
      // Cut off in the middle of another way: the dispatcher settles it.
      const isInDoubt = head.attemptStartedAtMs !== null
      const [delivery] = isInDoubt ? [] : await leases.take({ only: [head.lane] }, 1)
      if (delivery) return delivery
      if (isInDoubt || ++looks > MOST_LOOKS) lanes.delete(head.lane)
      else await sleep(LOOKED_AT_MS)
    }
    return undefined
  }

  /** In one step, so that a kill leaves it waiting or fetched: the same call gets it again, and no other one does. */
  const fetched = (delivery: Delivery, sessionId: SessionId | null, fetchKey: string | null) =>
    store.transaction(async (tx) => {
      const nowMs = clock.nowMs()
      const way = { sessionId, route: "pull" as const, fetchKey }
      if (!(await tx.deliveries.startAttempt(delivery.seq, delivery.leaseOwner ?? "", nowMs, way))) return false
      if (!(await settleLeased(tx, { ...delivery, ...way }, "delivered", nowMs))) return false
      // Only hooks tell that a turn is under way, and that it is over.
      const states = sessionId === null ? [] : (["seen", "running"] as const)
      await moveOn(tx, { ...delivery, ...way, state: "delivered" }, states, nowMs)
      return true
    })

  /** Nothing but its next call tells that an agent without hooks has had what it fetched. */
  const settleEarlier = async (team: Team, lanes: readonly string[], fetchKey: string | undefined) => {
    const given = await store.deliveries.ofLanes(lanes, { states: ["delivered"] })
    const earlier = given.filter(
      (one) => one.route === "pull" && one.sessionId === null && (one.fetchKey ?? "") !== fetchKey,
    )
    if (earlier.length === 0) return
    const only = { types: ["session_restart"] as const, newest: true, limit: 1 }
    const [restart] = await store.updates.after(team.name, only)
    await store.transaction(async (tx) => {
      for (const delivery of earlier) {
        const isAnothers = restart !== undefined && restart.atMs > (delivery.settledAtMs ?? 0)
        await moveOn(tx, delivery, [isAnothers ? "uncertain" : "done"], clock.nowMs(), isAnothers ? ENDED : ASKED_AGAIN)
      }
    })
  }

  const pull = async (team: Team, caller: Caller): Promise<PulledMail> => {
    const fetcher = await fetcherOf(team, caller)
    if (!fetcher || (fetcher.agent && (await watch.mayReturn(team.name, fetcher.agent)))) return NOTHING
    const { idempotencyKey: key } = caller
    const lanes = lanesOf({ team: team.name })
    await settleEarlier(team, lanes, key)
    const before = key === undefined ? [] : await store.deliveries.fetchedUnder(key)
    const pulled = before.filter(({ lane }) => lanes.includes(lane))
    let chars = pulled.reduce((sum, delivery) => sum + mailText(delivery).length, 0)
    const isFull = () => pulled.length >= MOST_AT_ONCE || chars >= MOST_CHARS
    const open = new Set(fetcher.agent ? lanes.filter((lane) => !isTyped(lane)) : lanes)
    while (!isFull()) {
      const delivery = await takeFirst(open)
      if (!delivery) break
      const isFetched = await fetched(delivery, fetcher.agent?.session.id ?? null, key ?? null)
      leases.drop(delivery)
      if (!isFetched) break
      pulled.push(delivery)
      chars += mailText(delivery).length
    }
    pulled.sort((a, b) => (comesBefore(a, b) ? -1 : 1))
    return {
      mail: pulled.map((delivery) => ({ id: delivery.key, text: mailText(delivery), atMs: delivery.createdAtMs })),
      hasMore: isFull() && (await store.deliveries.heads([...open])).length > 0,
    }
  }
  return { beforePull, pull }
}

const NOTHING: PulledMail = { mail: [], hasMore: false }
const ASKED_AGAIN = because("asked_again")
const ENDED = because("never_asked_again")
