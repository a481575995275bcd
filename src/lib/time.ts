import { setTimeout as sleep } from "node:timers/promises"

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** That much time, or until the signal. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {})

/** As answers have it. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null | undefined): string | undefined
export function isoTime(ms: number | null | undefined): string | undefined {
  return ms == null ? undefined : new Date(ms).toISOString()
}
