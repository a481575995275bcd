import { REASONING_PLATFORM, type Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { type Roster, teamsOf } from "../../domain/team.ts"
import type { UnattendedSessions } from "./unattended.ts"

/** Which sessions are told: those at which somebody sits, as far as the settings want them. */
export interface MirrorAudience {
  isTold(tx: Store, session: Session): Promise<boolean>
  teamsOf(session: Session): string[]
}

export function makeWho(
  mirror: "all" | "teams" | "off",
  roster: Pick<Roster, "at">,
  unattended: UnattendedSessions,
): MirrorAudience {
  const names = (session: Session) => teamsOf(roster, session).map(({ name }) => name)
  return {
    teamsOf: names,
    async isTold(tx, session) {
      if (mirror === "off" || session.isSubagent || session.platform === REASONING_PLATFORM) return false
      if (unattended.has(session.id) || (mirror === "teams" && names(session).length === 0)) return false
      // What two teams have to say to each other is not a person's conversation.
      return (await tx.pairs.ofNative(session.nativeId)) === undefined
    },
  }
}
