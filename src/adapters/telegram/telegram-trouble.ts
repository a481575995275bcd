import { GrammyError, HttpError } from "grammy/web"
import type { ChannelTrouble } from "../../domain/channel.ts"
import { PageAnswer } from "./telegram-client.ts"

/** The meaning of a failed call. Without the token, which is part of every URL. */
export function troubleOf(error: unknown, token: string): ChannelTrouble {
  if (error instanceof GrammyError) return refusal(error, (text) => text.replaceAll(token, "***"))
  const cause = error instanceof HttpError ? error.error : error
  if (cause instanceof PageAnswer) return pageTrouble(cause)
  return unanswered(cause)
}

/** A read without an answer can be repeated: it counts as unreachable. */
export const ofReading = (trouble: ChannelTrouble): ChannelTrouble =>
  trouble.kind === "unclear" ? { kind: "away", why: trouble.why } : trouble

type Why = Exclude<ChannelTrouble["kind"], "wait" | "unchanged">

/** Matched loosely, in this order: wording and codes differ between releases. */
const WORDS: readonly [RegExp, Why][] = [
  [/topic_closed|topic (is|was) closed/i, "topic_closed"],
  [
    /not a (supergroup )?forum|forum_?(missing|disabled|not_?enabled)|topics?(_| are | is )(not.enabled|disabled)/i,
    "no_topics",
  ],
  [
    /topic_(deleted|id_invalid|not_found)|thread.*(not found|invalid|deleted)|topic.*(not found|deleted)/i,
    "topic_gone",
  ],
  [
    /chat not found|was kicked|not a member|was blocked|is_blocked|user is deactivated|member not found|group chat was|can't initiate|peer_id_invalid/i,
    "no_chat",
  ],
  [/not enough rights|no rights|administrator rights|admin_required|_forbidden\b|rights? to /i, "no_rights"],
  [
    /message to \S+( \S+)? not found|message_id_invalid|message can't be (edited|deleted)|query is too old|query_id_invalid|wrong file_?id|invalid file_?id|file_reference/i,
    "gone",
  ],
]

const DEFAULT_WAIT_SECONDS = 5
const RESTART = /^Internal Server Error: restart$/i
const TOO_LARGE = 413

/** Of HTML answers only 413 is final; behind any other the call may have succeeded. */
function pageTrouble({ status }: PageAnswer): ChannelTrouble {
  if (status === TOO_LARGE) return { kind: "refused", why: "413 Request Entity Too Large" }
  return { kind: "unclear", why: `a web page answered instead of Telegram (HTTP ${status})` }
}

function refusal({ error_code: code, description, parameters }: GrammyError, clean: (text: string) => string) {
  const why = clean(description)
  if (code === 429) return { kind: "wait", forMs: (parameters.retry_after ?? DEFAULT_WAIT_SECONDS) * 1000 } as const
  if (/not[ _]modified/i.test(description)) return { kind: "unchanged" } as const
  const movedTo = parameters.migrate_to_chat_id
  if (movedTo !== undefined) return { kind: "no_chat", why, movedTo: String(movedTo) } as const
  // A malformed token is answered with 404.
  if (code === 401 || description === "Not Found") return { kind: "unauthorised", why } as const
  if (code === 409) return { kind: "conflict", why } as const
  // A closing server has not begun with the call: Client.cpp, get_closing_error.
  if (code >= 500) return { kind: RESTART.test(description) ? "away" : "unclear", why: `${code} ${why}` } as const
  const kind = WORDS.find(([words]) => words.test(description))?.[1]
  return { kind: kind ?? (code === 403 ? "no_chat" : "refused"), why } as const
}

/** A call that never left this machine did not happen; any other without an answer is unclear. */
function unanswered(error: unknown): ChannelTrouble {
  const cause = (error as { cause?: unknown } | null)?.cause ?? error
  const { code, errors = [] } = (cause ?? {}) as Cause
  const all = [cause as Cause, ...errors]
  const isUnsent = all.some(
    (one) =>
      one?.syscall === "connect" ||
      one?.syscall === "getaddrinfo" ||
      UNSENT_CODES.test(one?.code ?? "") ||
      /before secure TLS/.test(one?.message ?? ""),
  )
  if (isUnsent) return { kind: "away", why: WORDS_OF_CODES[code ?? ""] ?? `no connection (${code ?? "unknown"})` }
  return { kind: "unclear", why: `no answer came (${code ?? (error as Error | null)?.name ?? "unknown"})` }
}

interface Cause {
  code?: string
  syscall?: string
  message?: string
  errors?: Cause[]
}

const UNSENT_CODES =
  /^(UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|EAI_\w+|\w*CERT\w*|UNABLE_TO_\w+|ERR_SSL_(WRONG_VERSION|UNSUPPORTED|TLSV1|\w*HANDSHAKE)\w*)$/

const WORDS_OF_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there (ECONNREFUSED)",
  ENOTFOUND: "its host name cannot be looked up (ENOTFOUND)",
  EAI_AGAIN: "its host name cannot be looked up (EAI_AGAIN)",
  UND_ERR_CONNECT_TIMEOUT: "no connection within 10 seconds",
}
