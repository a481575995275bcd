import { identifier, isHex, joined, mostlyNoise } from "./identifier.ts"
import { type Emit, foreignRun, kindOf } from "./scripts.ts"

/**
 * Emits every index term of a text: lower case, without accents, stemmed. Identifiers also emit their parts, unspaced
 * scripts emit overlapping pairs. Ranges may overlap and are not in order.
 */
export function eachWord(text: string, emit: Emit): void {
  eachWordBetween(text, 0, text.length, emit)
}

export function eachWordBetween(text: string, from: number, to: number, emit: Emit): void {
  let at = from
  while (at < to) {
    const code = text.charCodeAt(at)
    if (code < 128) at = ASCII[code] === 0 ? at + 1 : compound(text, at, to, emit)
    else at = kindOf(text, at) === "none" ? at + 1 : foreignRun(text, at, to, emit)
  }
}

/** Longer runs of base64 and the like are skipped: they would only fill the dictionary. */
const LONGEST_NOISE = 40
const LONGEST_HASH = 64
const LONGEST_WHOLE = 64
const MOST_SEGMENTS = 8
/** Only the beginning of a longer run is split. */
const LONGEST_RUN = 256

const UNDERSCORE = 95
const HYPHEN = 45
const DOT = 46
const APOSTROPHE = 39
const CURLY_APOSTROPHE = 0x2019

/** 1 for letters, digits and the underscore. */
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => (/\w/.test(String.fromCharCode(code)) ? 1 : 0))

/** Emits identifiers joined by hyphens and dots. Returns the end. */
function compound(text: string, start: number, to: number, emit: Emit): number {
  let segments = 0
  let hyphens = 0
  let dots = 0
  let chunk = start
  let chunkHyphens = 0
  let segment = start
  if (isUuid(text, start, to)) return uuid(text, start, emit)
  for (;;) {
    const end = endOfRun(text, segment, to)
    const after = end < to ? text.charCodeAt(end) : 0
    if (after > 127 && after !== CURLY_APOSTROPHE && kindOf(text, end) === "word")
      return foreignRun(text, segment, to, emit)
    const past = noisePast(text, segment, end, to, emit)
    if (past > 0) return past
    segments++
    if (after === APOSTROPHE || after === CURLY_APOSTROPHE) return contraction(text, segment, end, to, emit)
    emitIdentifier(text, segment, end, emit)
    const goesOn = (after === HYPHEN || after === DOT) && end + 1 < to && isAlphanumeric(text.charCodeAt(end + 1))
    if (after === DOT || !goesOn) {
      if (chunkHyphens > 0) emitWhole(text, chunk, end, chunkHyphens, emit)
      chunk = end + 1
      chunkHyphens = 0
    }
    if (!goesOn) {
      if (dots > 0 && isFileLike(text, segment, end, after)) emitWhole(text, start, end, segments, emit)
      return end
    }
    if (after === HYPHEN) {
      hyphens++
      chunkHyphens++
    } else dots++
    if (hyphens + dots > LONGEST_RUN) return end
    segment = end + 1
  }
}

function endOfRun(text: string, start: number, to: number): number {
  let end = start
  while (end < to) {
    const code = text.charCodeAt(end)
    if (code > 127 || ASCII[code] === 0) break
    end++
  }
  return end
}

function isAlphanumeric(code: number): boolean {
  return code < 128 && ASCII[code] === 1 && code !== UNDERSCORE
}

function emitIdentifier(text: string, start: number, end: number, emit: Emit): void {
  const found = identifier(text.slice(start, end - start > LONGEST_RUN ? start + LONGEST_RUN : end))
  if (found.word !== "") emit(found.word, start, end)
  if (found.parts === null) return
  for (let i = 0; i < found.parts.length; i++)
    emit(found.parts[i]!, start + found.bounds[i * 2]!, start + found.bounds[i * 2 + 1]!)
}

function emitWhole(text: string, start: number, end: number, segments: number, emit: Emit): void {
  if (segments >= MOST_SEGMENTS || end - start > LONGEST_WHOLE) return
  emit(joined(text.slice(start, end)), start, end)
}

/** The last segment looks like a file extension or part of a number, and is not a call. */
function isFileLike(text: string, start: number, end: number, after: number): boolean {
  if (end - start > 5 || after === 40) return false
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code < 48 || (code > 57 && code < 97)) return false
  }
  return true
}

/** "user's" is a user; "don't" is one word. */
function contraction(text: string, start: number, end: number, to: number, emit: Emit): number {
  const tail = endOfRun(text, end + 1, Math.min(to, end + 4))
  const isWhole = tail < end + 4 || tail === to
  const suffix = text.slice(end + 1, tail).toLowerCase()
  if (isWhole && suffix === "t") {
    emit(joined(`${text.slice(Math.max(start, end - LONGEST_WHOLE), end)}t`), start, tail)
    return tail
  }
  emitIdentifier(text, start, end, emit)
  return isWhole && /^(?:s|d|m|ll|re|ve)$/.test(suffix) ? tail : end
}

/** The end of a run of base64 or another encoding; 0 if there is none. */
function noisePast(text: string, start: number, end: number, to: number, emit: Emit): number {
  if (end - start < 12 || !mostlyNoise(text, start, Math.min(end, start + LONGEST_RUN))) return 0
  let past = end
  while (past < to && isBase64(text.charCodeAt(past))) past++
  if (past - start <= LONGEST_NOISE || !mostlyNoise(text, start, Math.min(past, start + LONGEST_RUN))) return 0
  if (past - start <= LONGEST_HASH && isHex(text, start, past))
    emit(joined(text.slice(start, start + LONGEST_NOISE)), start, past)
  return past
}

function isBase64(code: number): boolean {
  return code < 128 && (ASCII[code] === 1 || code === 43 || code === 47 || code === 61 || code === HYPHEN)
}

function isUuid(text: string, start: number, to: number): boolean {
  if (start + 36 > to || text.charCodeAt(start + 8) !== HYPHEN || text.charCodeAt(start + 13) !== HYPHEN) return false
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text.slice(start, start + 36))
}

/** Emits the whole and the first group; the other groups would only fill the dictionary. */
function uuid(text: string, start: number, emit: Emit): number {
  emit(joined(text.slice(start, start + 36)), start, start + 36)
  emit(joined(text.slice(start, start + 8)), start, start + 8)
  return start + 36
}
