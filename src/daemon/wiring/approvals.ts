import { agentSetups as agents, linesAsking } from "../../agents/list.ts"
import type { HookIntake } from "../../capture/store/intake.ts"
import type { LiveSessions } from "../../domain/live.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import { type HookApprovals, makeAsking } from "../../permissions/asking.ts"
import { makeLinesAsking } from "../../permissions/line-asking.ts"
import type { Permits } from "../../permissions/permits.ts"
import type { Config } from "../config/settings.ts"
import { processStart } from "../process/process-identity.ts"
import type { CommonParts } from "./parts.ts"

interface Parts extends Pick<CommonParts, "store" | "roster" | "config" | "machine" | "log"> {
  permits: Permits
  live: LiveSessions
  intake: HookIntake
}

/** Approval requests from agents' hooks and protocols. */
export function openAsking(parts: Parts): HookApprovals & { run(signal: AbortSignal): Promise<void> } {
  const { store, permits, live, intake, roster, config, machine, log } = parts
  const shared = {
    store,
    agents,
    permits,
    teamAt: (platform: string, dir: string) => roster.at(dir).find((team) => team.platform === platform)?.name ?? null,
    isAnyoneThere: async () => permits.isWatched() || (await isReached(store, config.telegram, roster)),
    onTrouble: (err: unknown, what: string) => log.warn({ err, what }, "what an agent asks"),
  }
  const lines = makeLinesAsking({ ...shared, linesAsking, machine, meet: intake.meet })
  return { ...makeAsking({ ...shared, live, processStart, receive: intake.receive }), run: lines.run }
}

/** Whether anyone who may answer would see a question. */
async function isReached(
  store: Store,
  { token, mirror, approvals, users }: Config["telegram"],
  roster: Roster,
): Promise<boolean> {
  if (token === undefined || mirror === "off" || !approvals) return false
  if (users.length > 0 || (await store.people.list("telegram")).length > 0) return true
  const withChat = roster.list().filter(({ chat }) => chat !== null)
  if (withChat.length === 0) return false
  const paired = await store.teamPeople.list("telegram")
  return withChat.some(({ name, chat }) => chat!.users.length > 0 || paired.some(({ team }) => team === name))
}
