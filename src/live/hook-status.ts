import { isUnattended } from "../domain/hook-entry.ts"
import type { SessionId } from "../domain/ids.ts"
import type { JournalEntry } from "../domain/journal.ts"
import type { LiveStatus } from "../domain/live.ts"
import type { Store } from "../domain/store.ts"

export interface HeardStatus {
  status: LiveStatus
  waitingFor: string | null
  atMs: number
  isUnattended: boolean
}

/** How far back it looks when it begins: what was said earlier is no state of now. */
const LOOK_BACK = 2_000
const PAGE = 500

/** Whether agents that keep no registry are at work, from what their hooks said last. */
export function makeHookStatus(store: Store): { of(sessionId: SessionId): Promise<HeardStatus | undefined> } {
  const heard = new Map<string, HeardStatus>()
  let position: number | undefined
  let reading: Promise<void> | undefined
  const read = async () => {
    position ??= Math.max(0, (await store.journal.last()) - LOOK_BACK)
    for (;;) {
      const entries = await store.journal.after(position, PAGE)
      for (const entry of entries) take(heard, entry)
      position = entries.at(-1)?.seq ?? position
      if (entries.length < PAGE) return
    }
  }
  return {
    async of(sessionId) {
      reading ??= read().finally(() => {
        reading = undefined
      })
      await reading
      return heard.get(sessionId)
    },
  }
}

/** By the words that the agents' names for events share; what is neither says nothing of it. */
const STATUSES: [RegExp, LiveStatus][] = [
  [
    /^(?:UserPromptSubmit|beforeSubmitPrompt|BeforeAgent|(?:Pre|Post|Before|After)Tool|PreCompact|chat\.message)/i,
    "busy",
  ],
  [/^(?:Stop|AfterAgent|SessionStart|session\.idle)$/i, "idle"],
  [/^PermissionRequest$/i, "waiting"],
]

function take(heard: Map<string, HeardStatus>, { kind, sessionId, atMs, data }: JournalEntry): void {
  if (sessionId === null) return
  const known = heard.get(sessionId)
  // Answered from elsewhere: what it was allowed may run for long before its next hook.
  if (kind === "permission.decided" && known?.status === "waiting" && /^(?:allowed|denied)$/.test(String(data.state)))
    heard.set(sessionId, { ...known, status: "busy", waitingFor: null, atMs })
  if (kind !== "hook.received") return
  // A sub-agent speaks under its parent's id: it is at work, whatever has ended in it.
  if (typeof data.agent_id === "string") return
  const event = String(data.event)
  const isPrompt = event === "Notification" && data.notification_type === "permission_prompt"
  const status = isPrompt ? "waiting" : STATUSES.find(([pattern]) => pattern.test(event))?.[1]
  if (event === "SessionStart" && data.start === "compact") return
  if (status === undefined) return
  const waitingFor = status === "waiting" ? "permission prompt" : null
  heard.set(sessionId, { status, waitingFor, atMs, isUnattended: isUnattended(data) })
}
