import type { DriverEvent } from "../domain/driver.ts"
import { type Bell, makeBell } from "../lib/bell.ts"
import { after } from "../lib/clock.ts"

/** Wakes the callers that wait for a message when it changes. A hint: waiting callers also poll. */
export interface ChangeSignal {
  signal(id: string): void
  /** Ends all waiting, now and later. */
  end(): void
  readonly isEnding: boolean
  /** Listens from now on: a signal before `wait` is not lost. */
  listen(id: string): { wait: Bell["wait"]; stop(): void }
}

export function makeChangeSignal(): ChangeSignal {
  const listeners = new Map<string, Set<Bell>>()
  let isEnding = false
  return {
    get isEnding() {
      return isEnding
    },
    end() {
      isEnding = true
      for (const bells of listeners.values()) for (const bell of bells) bell.ring()
    },
    signal(id) {
      for (const bell of listeners.get(id) ?? []) bell.ring()
    },
    listen(id) {
      const bell = makeBell()
      const bells = listeners.get(id) ?? new Set()
      listeners.set(id, bells.add(bell))
      return {
        wait: bell.wait,
        stop() {
          bells.delete(bell)
          if (bells.size === 0 && listeners.get(id) === bells) listeners.delete(id)
        },
      }
    },
  }
}

/** What agents say during a turn, for clients that watch it. Held in memory: only the answer is stored. */
export interface AnswerStream {
  begin(id: string): void
  hear(id: string, event: DriverEvent): void
  end(id: string): void
  /** The text after this many characters, and what the agent is doing. */
  since(id: string, from: number): { text: string; at: number; doing: string | null }
}

/** Watchers fetch the rest shortly after the end. */
const KEPT_MS = 10_000

export function makeAnswerStream(changes: ChangeSignal): AnswerStream {
  const said = new Map<string, { text: string; doing: string | null }>()
  return {
    begin: (id) => void said.set(id, { text: "", doing: null }),
    hear(id, event) {
      const current = said.get(id)
      if (!current) return
      if (event.kind === "text") current.text += event.text
      else if (event.kind === "compacting") current.doing = "compacting"
      else current.doing = event.state === "started" ? `${event.name} ${event.summary}`.trim() : null
      changes.signal(id)
    },
    end(id) {
      const current = said.get(id)
      if (current) current.doing = null
      after(KEPT_MS, () => void said.delete(id), { ref: false })
    },
    since(id, from) {
      const { text, doing } = said.get(id) ?? { text: "", doing: null }
      return { text: text.slice(from), at: Math.max(from, text.length), doing }
    },
  }
}
