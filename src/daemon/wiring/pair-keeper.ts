import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import type { Pair } from "../../domain/pair.ts"
import { DAY_MS, MINUTE_MS } from "../../lib/time.ts"
import type { ControlCommand } from "../../teams/control.ts"
import { type Maintenance, makeMaintenance, type PairKeeper } from "../../teams/maintenance.ts"
import type { TeamsDeps, TeamsModule } from "../../teams/module.ts"
import type { Config } from "../config/settings.ts"
import type { CommonParts } from "./parts.ts"

interface Parts extends Pick<CommonParts, "store" | "clock" | "config" | "log"> {
  teams: Pick<TeamsModule, "control" | "whileAsleep">
  records: Pick<TeamsDeps, "briefOf" | "isOpenElsewhere">
}

/** Maintenance of pairs uses the same operations as people do. */
export function maintenanceOf({ store, clock, config, teams, records, log }: Parts): Maintenance {
  return makeMaintenance({
    store,
    clock,
    settings: {
      ...config.maintenance,
      keepPermissionsDays: config.permissions.keepDays,
      keepDeliveriesMs: keepDeliveriesMs(config),
    },
    keeper: pairKeeper({ teams, records }),
    onTrouble: (err, what) => log.warn({ err, what }, "pair maintenance failed"),
  })
}

/** A messenger redelivers unconfirmed updates for a day. */
const HANDED_OUT_MS = 2 * DAY_MS

/** The configured time, and at least as long as a key can be used again: by pending messages, duplicates and open approvals. */
export function keepDeliveriesMs({ queue, permissions }: Pick<Config, "queue" | "permissions">): number {
  if (queue.keepDays === 0) return 0
  return Math.max(
    ...[queue.keepDays * DAY_MS, queue.expireDays * DAY_MS, queue.duplicateWindowSeconds * 1000],
    ...[permissions.timeoutMinutes * MINUTE_MS, HANDED_OUT_MS],
  )
}

const OWNER: Caller = { surface: "cli" }

export function pairKeeper({ teams, records }: Pick<Parts, "teams" | "records">): PairKeeper {
  /** A session that a person has open is theirs: a second process would write to the same conversation. */
  const isOpen = async ({ platform, nativeId }: Pair) =>
    nativeId !== null && (await records.isOpenElsewhere(platform, nativeId))
  const control = (operation: ControlCommand["operation"], pair: Pair) =>
    attempt(() => teams.control(OWNER, { operation, ...named(pair), messageId: undefined, force: false }))
  const attempt = async (work: () => Promise<unknown>): Promise<"done" | "busy" | "unable"> => {
    try {
      await work()
      return "done"
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (error.code === "agent_busy") return "busy"
      // The agent lacks the command, or one of the two teams was removed.
      if (error.code === "bad_input") return "unable"
      throw error
    }
  }
  return {
    compact: async (pair) => ((await isOpen(pair)) ? "busy" : control("compact", pair)),
    async renew(pair, mark) {
      if (await isOpen(pair)) return "busy"
      const brief = pair.nativeId === null ? undefined : await records.briefOf(pair.nativeId)
      return brief === undefined ? "unable" : attempt(() => teams.whileAsleep(pair, mark))
    },
    // The pool ends processes of removed teams.
    rest: async (pair) => ((await control("sleep", pair)) === "busy" ? "busy" : "done"),
  }
}

const named = ({ fromTeam, toTeam, threadId }: Pair) => ({ team: toTeam, fromTeam: fromTeam ?? undefined, threadId })
