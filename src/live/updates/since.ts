import { Failure } from "../../domain/failure.ts"

/** Where a page of updates starts. */
export type Since = { afterSeq: number } | { sinceMs: number }

export const cursorOf = (seq: number) => `u${seq.toString(36)}`

/** A cursor of an earlier page, an ISO 8601 time, or seconds or milliseconds since 1970. */
export function parseSince(given: string | number): Since {
  const text = String(given).trim()
  if (/^u[0-9a-z]{1,10}$/.test(text)) return { afterSeq: Number.parseInt(text.slice(1), 36) }
  if (/^\d{9,16}(\.\d+)?$/.test(text)) {
    const number = Number(text)
    return { sinceMs: Math.trunc(number < SECONDS_BELOW ? number * 1000 : number) }
  }
  const atMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(atMs))
    throw new Failure(
      "bad_input",
      `since must be a next_since from an earlier answer, a time such as 2026-03-30T08:15:00Z, or seconds since 1970, got ${JSON.stringify(given)}`,
      { parameter: "since" },
    )
  return { sinceMs: atMs }
}

/** In seconds the year 5138; in milliseconds 1973. */
const SECONDS_BELOW = 1e11
