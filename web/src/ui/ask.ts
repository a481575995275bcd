import { type Signal, useSignal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import { Failure } from "../../../src/domain/failure.ts"
import { type JournalEvent, onEvents, opened } from "../events.ts"

export interface Asked<T> {
  value: T | undefined
  /** In words for a person: what went wrong, and what to do about it. */
  trouble: string | undefined
}

/**
 * What the daemon answers, asked again when the journal tells something that it is about. The last answer stays on the page
 * until the next one is there: nothing jumps.
 */
export function useAsk<T>(
  get: () => Promise<T>,
  { again, on, everyMs }: { again?: readonly unknown[]; on?: (event: JournalEvent) => boolean; everyMs?: number } = {},
): Signal<Asked<T>> {
  const asked = useSignal<Asked<T>>({ value: undefined, trouble: undefined })
  // Not after the page is painted: what is asked a frame sooner is there a frame sooner.
  useLayoutEffect(() => {
    let isOver = false
    let isAsking = false
    let isStale = false
    let lines = opened.peek()
    const ask = async () => {
      if (isAsking) {
        isStale = true
        return
      }
      isAsking = true
      try {
        const value = await get()
        if (!isOver) asked.value = { value, trouble: undefined }
      } catch (error) {
        if (!isOver) asked.value = { ...asked.peek(), trouble: troubleOf(error) }
      }
      isAsking = false
      if (isStale && !isOver) {
        isStale = false
        void ask()
      }
    }
    void ask()
    const forget = on && onEvents((events) => events.some(on) && void ask())
    const forgetLine = opened.subscribe((count) => {
      if (on && count > Math.max(1, lines)) void ask()
      lines = count
    })
    const look = () => {
      if (!document.hidden) void ask()
    }
    const timer = everyMs === undefined ? undefined : setInterval(look, everyMs)
    if (everyMs !== undefined) document.addEventListener("visibilitychange", look)
    return () => {
      isOver = true
      forget?.()
      forgetLine()
      clearInterval(timer)
      document.removeEventListener("visibilitychange", look)
    }
  }, again ?? [])
  return asked
}

export function troubleOf(error: unknown): string {
  if (error instanceof TypeError) return "Throughline isn't running. Start it with `throughline start`."
  const failure = Failure.from(error)
  return `${failure.message}. ${failure.kind.help}`
}
