import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import type { SearchHit, SearchRequest } from "../search/query/request.ts"
import type { Services } from "./services.ts"
import { clip, projectName } from "./text.ts"
import { markOf } from "./views.ts"

/** The budget of ten hits. In some scripts every letter is a token. */
const MAX_TOKENS = 850
export const mostTokens = (hits: number) => Math.max(MAX_TOKENS, (MAX_TOKENS / 10) * hits)

export function shortened<T extends { user: string; ai: string }>(
  exchanges: T[],
  tokens: (text: string) => number,
  most: number,
): T[] {
  let shown = exchanges
  for (let share = 0.9; share > 0.1 && tokens(JSON.stringify(shown)) > most; share -= 0.1)
    shown = exchanges.map((each) => ({
      ...each,
      user: clip(each.user, Math.max(8, Math.floor(each.user.length * share))),
      ai: clip(each.ai, Math.max(8, Math.floor(each.ai.length * share))),
    }))
  return shown
}

/** Fewer hits get more text each. */
export function charsPerHit(hits: number): NonNullable<SearchRequest["chars"]> {
  const [user, said] = [Math.min(200, Math.floor(360 / hits)), Math.min(600, Math.floor(800 / hits))]
  return { user, ai: said, snippet: said }
}

export function exchangeView(hit: SearchHit, capture: Services["capture"], { withCommand }: { withCommand: boolean }) {
  const { session, exchange, user, ai, snippet, kind, atMs, score, metadata } = hit
  const [id, nativeId] = [session.id.slice(0, 8), capture.loggedId(session)]
  return {
    exchange_id: String(exchange),
    user: kind === "prompt" ? snippet.text : user,
    ai: ai === "" && kind !== "prompt" ? snippet.text : ai,
    timestamp: `${isoTime(atMs).slice(0, 16)}Z`,
    session_id: id,
    ...present({
      native_id: nativeId,
      platform: session.platform,
      project: session.rootUri && projectName(session.rootUri),
    }),
    score: rounded(score),
    ...present({ metadata }),
    ...(withCommand && capture.resuming(session) ? { resume_command: `throughline resume ${id}` } : {}),
    ...markOf(session),
  }
}

export const rounded = (score: number) => Math.round(score * 100) / 100
