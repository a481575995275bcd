/** Hooks that wait in an agent's background until there is something to wake it with. One for each session. */
import { after, every } from "../lib/clock.ts"
export interface BackgroundHooks {
  /** Answers when there is something to say, when another one waits instead, or when it is time to ask again. */
  wait(who: WaitingHook, signal: AbortSignal): Promise<WaitAnswer>
  isWaiting(session: SessionName): boolean
  /** Hands the text to the one that waits. False when none does any more. */
  wake(session: SessionName, text: string): boolean
  /** Answers all of them: the daemon ends, and they ask the next one. */
  close(): void
}

export interface SessionName {
  platform: string
  nativeId: string
}

export interface WaitingHook extends SessionName {
  /** The agent's process, which the one that waits must not outlive. */
  pid: number | undefined
}

export type WaitAnswer =
  | { kind: "wake"; text: string }
  /** Ask again. */
  | { kind: "again" }
  /** Nothing more is to come: another one waits, or the agent is gone. */
  | { kind: "over" }

export interface BackgroundHooksDeps {
  /** Whether the process lives; a number that was given again has another start. */
  processStart(pid: number): string | undefined
}

const HOLD_MS = 50_000
const LOOK_MS = 2_000

const OVER: WaitAnswer = { kind: "over" }

export function makeBackgroundHooks({ processStart }: BackgroundHooksDeps): BackgroundHooks {
  const open = new Map<string, (answer: WaitAnswer) => void>()
  let isClosed = false

  return {
    async wait({ pid, ...session }, signal) {
      const name = nameOf(session)
      const startedAs = pid === undefined ? undefined : processStart(pid)
      if (pid !== undefined && startedAs === undefined) return OVER
      if (isClosed) return { kind: "again" }
      const { promise, resolve } = Promise.withResolvers<WaitAnswer>()
      const mine = (answer: WaitAnswer) => {
        if (open.get(name) === mine) open.delete(name)
        resolve(answer)
      }
      const onGone = () => mine(OVER)
      const cancel = after(HOLD_MS, () => mine({ kind: "again" }))
      const stopLooking = every(LOOK_MS, () => {
        if (pid !== undefined && processStart(pid) !== startedAs) onGone()
      })
      signal.addEventListener("abort", onGone)
      open.get(name)?.(OVER)
      open.set(name, mine)
      if (signal.aborted) onGone()
      return promise.finally(() => {
        cancel()
        stopLooking()
        signal.removeEventListener("abort", onGone)
      })
    },
    isWaiting: (session) => open.has(nameOf(session)),
    wake(session, text) {
      const answer = open.get(nameOf(session))
      answer?.({ kind: "wake", text })
      return answer !== undefined
    },
    close() {
      isClosed = true
      for (const answer of [...open.values()]) answer({ kind: "again" })
    },
  }
}

const nameOf = ({ platform, nativeId }: SessionName) => `${platform} ${nativeId}`
