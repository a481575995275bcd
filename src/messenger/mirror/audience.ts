import { isUnattended } from "../../domain/hook.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import { REASONING_PLATFORM, type Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { type Roster, teamsOf } from "../../domain/team.ts"

const LOOK_BACK = 2_000
const PAGE = 500
const MOST_KNOWN = 10_000

export type MirrorAudience = ReturnType<typeof makeAudience>

/** Which sessions are mirrored: attended ones, as the settings say. A session whose hooks say nothing counts as attended. */
export function makeAudience(mirror: "all" | "teams" | "off", roster: Pick<Roster, "at">) {
  const unattended = new Set<string>()
  const names = (session: Session) => teamsOf(roster, session).map(({ name }) => name)
  const hear = ({ kind, sessionId, data }: JournalEntry) => {
    if (kind !== "hook.received" || sessionId === null) return
    if (!isUnattended(data)) unattended.delete(sessionId)
    else if (unattended.size < MOST_KNOWN) unattended.add(sessionId)
  }
  return {
    teamsOf: names,
    async isTold(tx: Store, session: Session): Promise<boolean> {
      if (mirror === "off" || session.isSubagent || session.platform === REASONING_PLATFORM) return false
      if (unattended.has(session.id) || (mirror === "teams" && names(session).length === 0)) return false
      // A conversation of two teams is not a person's.
      return (await tx.pairs.ofNative(session.nativeId)) === undefined
    },
    hear,
    /** After a start: the hooks before this position of the journal. */
    async lookBack(tx: Store, position: number): Promise<void> {
      for (let at = Math.max(0, position - LOOK_BACK); at < position; ) {
        const entries = await tx.journal.after(at, PAGE)
        for (const entry of entries) if (entry.seq <= position) hear(entry)
        at = entries.at(-1)?.seq ?? position
      }
    },
  }
}
