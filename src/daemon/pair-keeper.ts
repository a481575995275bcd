import type { Caller } from "../domain/caller.ts"
import type { Clock } from "../domain/clock.ts"
import { Failure } from "../domain/failure.ts"
import type { Pair } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import type { ControlWish } from "../teams/control.ts"
import { type Maintenance, makeMaintenance, type PairKeeper } from "../teams/maintenance.ts"
import type { TeamsDeps, TeamsRoom } from "../teams/room.ts"
import type { Log } from "./log.ts"
import type { Config } from "./settings.ts"

interface Parts {
  store: Store
  clock: Clock
  config: Config
  teams: Pick<TeamsRoom, "control" | "ask">
  records: Pick<TeamsDeps, "briefOf" | "isOpenElsewhere">
  log: Log
}

/** Pairs are looked after by the same means that people have: nothing happens to them that could not be asked for. */
export function maintenanceOf({ store, clock, config, teams, records, log }: Parts): Maintenance {
  return makeMaintenance({
    store,
    clock,
    settings: config.maintenance,
    keeper: pairKeeper({ teams, records }),
    onTrouble: (err, what) => log.warn({ err, what }, "a pair could not be looked after"),
  })
}

const OWNER: Caller = { surface: "cli" }
const READ_MS = 10 * 60_000

export function pairKeeper({ teams, records }: Pick<Parts, "teams" | "records">): PairKeeper {
  /** What a person has open is theirs: a second process on it would write into the same conversation. */
  const isOpen = async ({ platform, nativeId }: Pair) =>
    nativeId !== null && (await records.isOpenElsewhere(platform, nativeId))
  const control = async (operation: ControlWish["operation"], pair: Pair): Promise<"done" | "busy" | "unable"> => {
    try {
      await teams.control(OWNER, { operation, ...named(pair), messageId: undefined, force: false })
      return "done"
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (error.code === "agent_busy") return "busy"
      // Its agent has no such command, or one of the two is no team any more.
      if (error.code === "bad_input") return "unable"
      throw error
    }
  }
  return {
    compact: async (pair) => ((await isOpen(pair)) ? "busy" : control("compact", pair)),
    async renew(pair) {
      if (await isOpen(pair)) return "busy"
      const brief = pair.nativeId === null ? undefined : await records.briefOf(pair.nativeId)
      if (brief === undefined) return "unable"
      const reset = await control("reset", pair)
      if (reset !== "done") return reset
      const names = { team: "team", text: "the brief" }
      const wish = { ...named(pair), text: goingOn(brief), names, timeoutMs: READ_MS }
      const { status, reason } = await teams.ask(OWNER, wish)
      if (status === "done") return "done"
      throw new Failure("agent_failed", `the new session has not read its brief: ${reason ?? status}`)
    },
    // A process whose team is gone is ended by the pool.
    rest: async (pair) => ((await control("sleep", pair)) === "busy" ? "busy" : "done"),
  }
}

const named = ({ fromTeam, toTeam, threadId }: Pair) => ({ team: toTeam, fromTeam: fromTeam ?? undefined, threadId })

const goingOn = (brief: string) =>
  `[This session goes on with an earlier one, which became too long. What is known of it follows. Nothing is to be done yet: read it, and answer with one word.]\n${brief.trim()}`
