import { type HookEvent, hookPayload, type SentHook } from "../domain/hook.ts"
import type { SessionId } from "../domain/ids.ts"
import type { LiveAgent } from "../domain/live.ts"
import type { HookAsking } from "../domain/setup.ts"
import { every } from "../lib/clock.ts"

/** A question that stands on an agent's own screen too, or in a sub-agent of it. */
export interface Dialog {
  platform: string
  nativeId: string
  sessionId: SessionId
  /** The agent's process. */
  pid: number | undefined
  /** The hook's own: what carries its questions may outlive it. */
  hookPid: number | undefined
  askedAtMs: number
  payload: Record<string, unknown>
  asking: HookAsking
  /** The agent shows it while it is asked from here. */
  isShown: boolean
  /** Of the sub-agent. */
  agentId: string | undefined
}

export interface DialogDeps {
  permits: { release(id: string, why: { by: string; reason: string }): Promise<void> }
  live: { ofSession(sessionId: SessionId): Promise<Pick<LiveAgent, "status" | "statusAtMs"> | undefined> }
  processStart(pid: number): string | undefined
  onTrouble(error: unknown, what: string): void
}

export interface Dialogs {
  /** Lets the question go when its agent shows that it went on, until the returned function is called. */
  watch(id: string, dialog: Dialog): () => void
  heard(sent: SentHook, event: HookEvent): void
  /** False when the agent is seen to have gone on a moment ago. */
  isOpen(id: string): Promise<boolean>
}

const LOOK_MS = 400
/** Registries are a little behind. */
const LATE_MS = 300
/** Between two dialogs an agent may be busy for a moment. */
const LOOKS = 2
export const AT_TERMINAL = { by: "the terminal", reason: "answered at the terminal" }

interface Open extends Dialog {
  /** The agent's process and the hook's, as they were when it began to wait. */
  processes: { pid: number; startedAs: string | undefined }[]
  /** It was seen waiting, and since then so often not. */
  hasWaited: boolean
  goneOn: number
}

/** Whether agents still show what their hooks ask. An agent does not end a hook that is answered at the terminal. */
export function makeDialogs({ permits, live, processStart, onTrouble }: DialogDeps): Dialogs {
  const all = new Map<string, Open>()
  const release = (id: string, why: { by: string; reason: string }) => {
    all.delete(id)
    permits.release(id, why).catch((error: unknown) => onTrouble(error, `the permission ${id}`))
  }

  const isGone = ({ processes }: Open) =>
    processes.some(({ pid, startedAs }) => startedAs === undefined || processStart(pid) !== startedAs)

  /** Whether it shows something else now than what was asked. */
  const hasGoneOn = async (dialog: Open): Promise<boolean> => {
    if (!dialog.isShown) return false
    const now = await live.ofSession(dialog.sessionId)
    if (!now || now.statusAtMs === null) return false
    if (now.status === "waiting") {
      dialog.hasWaited = true
      return false
    }
    return dialog.hasWaited || now.statusAtMs > dialog.askedAtMs + LATE_MS
  }

  const look = async (id: string, dialog: Open) => {
    if (all.get(id) !== dialog) return
    if (isGone(dialog)) return release(id, { by: "throughline", reason: "the agent asks no longer" })
    dialog.goneOn = (await hasGoneOn(dialog)) ? dialog.goneOn + 1 : 0
    if (dialog.goneOn >= LOOKS && all.get(id) === dialog) release(id, AT_TERMINAL)
  }

  return {
    watch(id, dialog) {
      const pids = [dialog.pid, dialog.hookPid].filter((pid) => pid !== undefined)
      const processes = pids.map((pid) => ({ pid, startedAs: processStart(pid) }))
      const open: Open = { ...dialog, processes, hasWaited: all.get(id)?.hasWaited ?? false, goneOn: 0 }
      all.set(id, open)
      const stopLooking = every(LOOK_MS, () => {
        look(id, open).catch((error: unknown) => onTrouble(error, `the permission ${id}`))
      })
      return () => {
        stopLooking()
        if (all.get(id) === open) all.delete(id)
      }
    },
    heard(sent, event) {
      for (const [id, dialog] of all)
        if (dialog.platform === sent.platform && dialog.nativeId === event.sessionId && isOver(dialog, sent, event))
          release(id, AT_TERMINAL)
    },
    async isOpen(id) {
      const dialog = all.get(id)
      return dialog === undefined || !(isGone(dialog) || (await hasGoneOn(dialog)))
    },
  }
}

/** By the words that the agents' names for events share. */
function isOver({ agentId, payload, asking }: Dialog, sent: SentHook, { name, details }: HookEvent): boolean {
  if (/^SessionEnd$/i.test(name)) return true
  if (details.agent_id !== agentId) return false
  if (/^PostToolUse/i.test(name)) return asking.isDone(payload, hookPayload(sent))
  return agentId === undefined ? /^(?:Stop|StopFailure|UserPromptSubmit)$/i.test(name) : /^SubagentStop$/i.test(name)
}
