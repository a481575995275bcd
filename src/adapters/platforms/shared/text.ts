import { createHash } from "node:crypto"

/** Lone surrogates, which agents do write, can be neither stored nor embedded. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** The first line that says something, cut to what fits a list; undefined where there is none. */
export function titleOf(text: string): string | undefined {
  const line = /\S.*/.exec(text)?.[0].trim().replace(/\s+/g, " ")
  if (!line) return undefined
  const characters = [...line.slice(0, 240)]
  return wellFormed(characters.length <= 80 ? line : `${characters.slice(0, 79).join("").trimEnd()}…`)
}

/** Milliseconds of an ISO time; undefined where it is none. */
export function timeOf(iso: unknown): number | undefined {
  const ms = typeof iso === "string" ? Date.parse(iso) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** Short name of a text, for records that have no id of their own. */
export function digest(...parts: string[]): string {
  const hash = createHash("sha1")
  for (const part of parts) hash.update(part).update("\0")
  return hash.digest("base64url").slice(0, 16)
}
