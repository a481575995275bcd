import { isUnattended } from "../../domain/hook-entry.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import type { Store } from "../../domain/store.ts"

/** At which sessions nobody sits, by what their hooks said. One that says nothing has somebody. */
export interface UnattendedSessions {
  hear(entry: JournalEntry): void
  has(sessionId: string): boolean
  /** After a start: what was said before. */
  lookBack(tx: Store, position: number): Promise<void>
}

const LOOK_BACK = 2_000
const PAGE = 500
const MOST_KNOWN = 10_000

export function makeUnattended(): UnattendedSessions {
  const unattended = new Set<string>()
  const hear = ({ kind, sessionId, data }: JournalEntry) => {
    if (kind !== "hook.received" || sessionId === null) return
    if (!isUnattended(data)) unattended.delete(sessionId)
    else if (unattended.size < MOST_KNOWN) unattended.add(sessionId)
  }
  return {
    hear,
    has: (sessionId) => unattended.has(sessionId),
    async lookBack(tx, position) {
      for (let at = Math.max(0, position - LOOK_BACK); at < position; ) {
        const entries = await tx.journal.after(at, PAGE)
        for (const entry of entries) if (entry.seq <= position) hear(entry)
        at = entries.at(-1)?.seq ?? position
      }
    },
  }
}
