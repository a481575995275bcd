import { type SessionCapture, TITLE_SOURCES, type TitleSource, type TurnCapture } from "../../../domain/capture.ts"
import { defined } from "../../../lib/defined.ts"
import { titleOf, wellFormed } from "./text.ts"

type Fields<T> = { [K in keyof T]?: T[K] | undefined }

export function sessionOf(
  sessionId: string,
  about: Fields<Omit<SessionCapture, "type" | "sessionId">> = {},
): SessionCapture {
  return { type: "session", sessionId, ...defined(about) }
}

/** The title of highest rank among these texts, if one has a title in it. */
export function titled(texts: Fields<Record<TitleSource, string>>): SessionCapture["title"] {
  for (const from of TITLE_SOURCES.toReversed()) {
    const text = titleOf(texts[from] ?? "")
    if (text !== undefined) return { text, from }
  }
  return undefined
}

type TurnPart = Pick<TurnCapture, "nativeId" | "kind" | "text"> & Fields<TurnCapture>
export type MakeTurn = (part: TurnPart) => TurnCapture

/** Makes the turns of one record. */
export const turnsAt =
  (sessionId: string, atMs: number | undefined): MakeTurn =>
  ({ nativeId, kind, text, ...more }) => ({
    ...{ type: "turn", sessionId, nativeId, kind, text: wellFormed(text) },
    ...defined({ atMs }),
    ...defined(more),
  })

export type Counted = { inputTokens: number; outputTokens: number; cachedTokens: number }

/** What was used since an earlier count; undefined for nothing. */
export function usedSince(total: Counted, before: Counted | undefined): Counted | undefined {
  const used = {
    inputTokens: total.inputTokens - (before?.inputTokens ?? 0),
    outputTokens: total.outputTokens - (before?.outputTokens ?? 0),
    cachedTokens: total.cachedTokens - (before?.cachedTokens ?? 0),
  }
  return Object.values(used).some((count) => count !== 0) ? used : undefined
}

/** The text of a session's first prompt. */
export function firstPrompt(captures: readonly { type: string }[]): string | undefined {
  return (captures as readonly Partial<TurnCapture>[]).find(({ type, kind }) => type === "turn" && kind === "prompt")
    ?.text
}
