import { isUnattended } from "../domain/hook.ts"
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

/** How many entries it reads on start: older ones say nothing about the current state. */
const LOOK_BACK = 2_000
const PAGE = 500

/** The status of agents without a registry, from their last hook. */
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

/** Patterns of the agents' event names. Other events do not change the status. */
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
  // Answered outside the terminal: the allowed tool may run long before the next hook.
  if (kind === "permission.decided" && known?.status === "waiting" && /^(?:allowed|denied)$/.test(String(data.state)))
    heard.set(sessionId, { ...known, status: "busy", waitingFor: null, atMs })
  if (kind !== "hook.received") return
  // A sub-agent's hooks have its parent's id; its end is not the end of the parent's turn.
  if (typeof data.agent_id === "string") return
  const event = String(data.event)
  const isPrompt = event === "Notification" && data.notification_type === "permission_prompt"
  const status = isPrompt ? "waiting" : STATUSES.find(([pattern]) => pattern.test(event))?.[1]
  if (event === "SessionStart" && data.start === "compact") return
  if (status === undefined) return
  const waitingFor = status === "waiting" ? "permission prompt" : null
  heard.set(sessionId, { status, waitingFor, atMs, isUnattended: isUnattended(data) })
}
