import { createHash } from "node:crypto"
import { asArray, asObject, asString } from "./jsonl.ts"

/** Agents do write lone surrogates, which can be neither stored nor embedded. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** The text of a string, or of a list of parts as in model APIs. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content
  const texts = asArray(content).map((value) => {
    const part = asObject(value)
    return asString(part?.text) ?? (asString(part?.type)?.endsWith("image") ? "[image]" : "")
  })
  return texts.filter(Boolean).join("\n")
}

/** The first non-blank line, shortened for lists; undefined if there is none. */
export function titleOf(text: string): string | undefined {
  const line = /\S.*/.exec(text)?.[0].slice(0, 400).replace(/\s+/g, " ").trim()
  if (!line) return undefined
  const characters = [...wellFormed(line)]
  return characters.length <= 80 ? characters.join("") : `${characters.slice(0, 79).join("").trimEnd()}…`
}

/** Milliseconds of an ISO time; undefined for anything else. */
export function timeOf(iso: unknown): number | undefined {
  const ms = typeof iso === "string" ? Date.parse(iso) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** A short hash, for records without an id. */
export function digest(text: string): string {
  return createHash("sha1").update(text).digest("base64url").slice(0, 16)
}
