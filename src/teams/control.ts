import { Failure } from "../domain/failure.ts"
import { askOf, type Control, MAIN_THREAD, PAIR_CHANNEL, type Pair } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import type { Roster, Team } from "../domain/team.ts"
import type { Asking } from "./asking.ts"
import type { Asker } from "./callers.ts"
import type { PairSessions } from "./pairs.ts"
import type { Pool } from "./pool.ts"

export interface ControlCommand {
  operation: Control
  /** Null for what a person asked. */
  fromTeam: string | null
  team: string | undefined
  threadId: string | undefined
  messageId: string | undefined
  force: boolean
}

export interface Controlled {
  changed: boolean
  /** What was done, or why nothing was. */
  note: string
  pair: Pair
  messageId?: string | undefined
  pid?: number
}

export interface ControlDeps {
  store: Store
  roster: Roster
  pairing: PairSessions
  pool: Pool
  asking: Asking
}

/** The operations on one pair; no other pair is affected. */
export function makeControl({ store, roster, pairing, pool, asking }: ControlDeps) {
  const named = async (asker: Asker, command: ControlCommand): Promise<Pair> => {
    const { team, fromTeam, threadId, messageId } = command
    const delivery = messageId === undefined ? undefined : await store.deliveries.byKey(messageId)
    if (messageId !== undefined && delivery?.channel !== PAIR_CHANNEL)
      throw new Failure("message_not_found", `there is no message ${messageId}`, { messageId })
    const pair = delivery
      ? await store.pairs.byId(askOf(delivery).pairId)
      : team !== undefined && (await pairing.find(fromTeam, team, threadId ?? MAIN_THREAD))
    const who = fromTeam ?? "the owner"
    if (team === undefined && messageId === undefined)
      throw new Failure("bad_input", "team is missing: name it, or a messageId", { parameter: "team" })
    if (!pair)
      throw new Failure("pair_not_found", `${who} has asked ${team} nothing in the thread ${threadId ?? MAIN_THREAD}`)
    if (!asker.isOwner && pair.fromTeam !== fromTeam)
      throw new Failure("bad_input", `${messageId} was asked by ${pair.fromTeam ?? "somebody else"}, not by ${who}`, {
        parameter: "messageId",
      })
    // An agent outside all teams shares the owner's pairs: it may only cancel a question of an outsider.
    const isOutsiders = delivery !== undefined && !askOf(delivery).isOwners
    if (!asker.isOwner && pair.fromTeam === null && !(command.operation === "cancel" && isOutsiders))
      throw new Failure("person_needed", `${command.operation}: this conversation with ${pair.toTeam} is the owner's`)
    return pair
  }

  const teamOf = ({ toTeam }: Pair): Team => {
    const team = roster.byName(toTeam)
    if (team) return team
    throw new Failure("bad_input", `the team ${toTeam} is no longer in the configuration`, { parameter: "team" })
  }

  /** Runs the work while no question is sent to the pair. With `force`, a running question is cancelled first. */
  const quietly = async <T>(pair: Pair, force: boolean, work: () => Promise<T>): Promise<T> => {
    const running = asking.atWork(pair.id)
    if (force && running !== undefined) await asking.cancel(running)
    return asking.alone(pair, work)
  }

  const acts: Record<Control, (pair: Pair, command: ControlCommand) => Promise<Omit<Controlled, "pair">>> = {
    async cancel(pair, { messageId }) {
      const id = messageId ?? asking.atWork(pair.id)
      if (id === undefined) return { changed: false, note: "its agent is at nothing" }
      const changed = await asking.cancel(id)
      const state = (await store.deliveries.byKey(id))?.state
      return { changed: changed && state === "cancelled", note: `${id} is ${state}`, messageId: id }
    },
    wake: (pair) => {
      const process = pool.processOf(pair.id)
      if (process?.pid) return Promise.resolve({ changed: false, note: "it is awake", pid: process.pid })
      return asking.alone(pair, async () => {
        const use = await pool.take(pair, teamOf(pair))
        if ("later" in use) throw new Failure("agent_busy", use.later.words)
        use.release()
        return { changed: true, note: "its process is started", pid: use.session.pid }
      })
    },
    sleep: (pair, { force }) =>
      quietly(pair, force, async () => {
        const changed = await pool.sleep(pair.id, { force })
        return { changed, note: changed ? "its process is ended; the next question resumes it" : "it sleeps already" }
      }),
    compact: (pair) =>
      asking.alone(pair, async () => {
        if (!pair.isMade) return { changed: false, note: "nothing was said in it yet" }
        const use = await pool.take(pair, teamOf(pair))
        if ("later" in use) throw new Failure("agent_busy", use.later.words)
        try {
          if (!use.session.compact) throw new Failure("bad_input", `${pair.platform} cannot be told to compact`)
          const { status, error } = await use.session.compact()
          if (status !== "done") throw new Failure("agent_failed", error ?? `it ended as ${status}`)
          return { changed: true, note: "its history is shortened" }
        } finally {
          use.release()
        }
      }),
    async fork(pair) {
      const { threadId } = await pairing.fork(pair)
      return { changed: true, note: `the thread ${threadId} continues from here on its own` }
    },
    archive: (pair, { force }) =>
      quietly(pair, force, async () => {
        await pool.sleep(pair.id, { force })
        await store.pairs.update(pair.id, { status: "archived" })
        return { changed: pair.status !== "archived", note: "it is archived; a question brings it back" }
      }),
    reset: (pair, { force }) =>
      quietly(pair, force, async () => {
        await pool.sleep(pair.id, { force })
        await store.pairs.update(pair.id, { nativeId: null, isMade: false, madeAtMs: null, status: "active" })
        return { changed: pair.nativeId !== null, note: "the next question starts a new session" }
      }),
  }

  return async (asker: Asker, command: ControlCommand): Promise<Controlled> => {
    const pair = await named(asker, command)
    const done = await acts[command.operation](pair, command)
    return { ...done, pair: (await store.pairs.byId(pair.id)) ?? pair }
  }
}
