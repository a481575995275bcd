/** Hooks that wait in an agent's background until there is something to wake it with. One for each session. */
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

interface OpenHook extends WaitingHook {
  answer(answer: WaitAnswer): void
}

export function makeBackgroundHooks({ processStart }: BackgroundHooksDeps): BackgroundHooks {
  const open = new Map<string, OpenHook>()
  let isClosed = false

  return {
    wait: (who, signal) =>
      new Promise((resolve) => {
        const name = nameOf(who)
        const startedAs = who.pid === undefined ? undefined : processStart(who.pid)
        if (who.pid !== undefined && startedAs === undefined) return resolve({ kind: "over" })
        if (isClosed) return resolve({ kind: "again" })
        const mine: OpenHook = {
          ...who,
          answer(answer) {
            clearTimeout(patience)
            clearInterval(look)
            signal.removeEventListener("abort", onGone)
            if (open.get(name) === mine) open.delete(name)
            resolve(answer)
          },
        }
        const onGone = () => mine.answer({ kind: "over" })
        const patience = setTimeout(() => mine.answer({ kind: "again" }), HOLD_MS)
        const look = setInterval(() => {
          if (who.pid !== undefined && processStart(who.pid) !== startedAs) onGone()
        }, LOOK_MS)
        signal.addEventListener("abort", onGone)
        open.get(name)?.answer({ kind: "over" })
        open.set(name, mine)
        if (signal.aborted) onGone()
      }),
    isWaiting: (session) => open.has(nameOf(session)),
    wake(session, text) {
      const waiting = open.get(nameOf(session))
      waiting?.answer({ kind: "wake", text })
      return waiting !== undefined
    },
    close() {
      isClosed = true
      for (const waiting of [...open.values()]) waiting.answer({ kind: "again" })
    },
  }
}

const nameOf = ({ platform, nativeId }: SessionName) => `${platform} ${nativeId}`
