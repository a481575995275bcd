export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** As answers have it. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null | undefined): string | undefined
export function isoTime(ms: number | null | undefined): string | undefined {
  return ms == null ? undefined : new Date(ms).toISOString()
}
