import type { SessionId } from "./ids.ts"
import { type ReasonCode, reasonIn } from "./reason.ts"

/** What a person who wrote from a messenger is told of messages that cannot be delivered yet. One for all that it covers. */
export interface WaitNotice {
  /** The first message's. */
  id: string
  channel: string
  sessionId: SessionId
  topicId: string
  /** Those of the session from there to there are covered, by their numbers in the queue. */
  firstSeq: number
  lastSeq: number
  words: string
  /** So long they may wait before it is said; null while their wait is an ordinary one. */
  afterMs: number | null
  canResume: boolean
  /** In the messenger; null until it was sent. */
  messageId: number | null
  sinceMs: number
  /** Nothing of what it covers waits any more. */
  endedAtMs: number | null
}

export interface WaitNotices {
  byId(id: string): Promise<WaitNotice | undefined>
  /** Those of the session that have not ended, oldest first. */
  open(channel: string, sessionId: SessionId): Promise<WaitNotice[]>
  /** Again under the same id changes all but where it was sent. */
  put(notice: Omit<WaitNotice, "messageId">): Promise<void>
  /** In the transaction that says that it was sent. */
  sent(id: string, messageId: number): Promise<void>
  /** Those that ended before. */
  drop(beforeMs: number): Promise<void>
}

export type WaitWords = Pick<WaitNotice, "words" | "afterMs" | "canResume">

/** A message that can be delivered has arrived by then. */
const MOMENT_MS = 800
/** Dialogs and drafts are mostly over sooner. */
const LONG_MS = 30_000

const now = (words: string, canResume = false): WaitWords => ({ words, afterMs: MOMENT_MS, canResume })
const long = (words: string): WaitWords => ({ words, afterMs: LONG_MS, canResume: false })
const later = (words: string): WaitWords => ({ words, afterMs: null, canResume: false })

const ANSWER = (what: string) =>
  `The agent is waiting for an answer at its terminal (${what}); your message is delivered after that.`
const WHEN_IDLE = later("The agent is busy; your message is delivered when it is idle.")
const PANE = now("Its tmux pane is closed or shows something else; restart the agent there, or /resume it here.")
const NO_HOOK = now(
  "No hook of the agent can deliver this; run `throughline setup` on the computer, or run the agent in tmux.",
)
const UNTYPED = (agent: string) => now(`This agent (${agent}) does not accept typed messages; use its own terminal.`)

/** One sentence for each reason that a message to a session may wait for; null where it is none, or another's. */
export const WAIT_WORDS: Record<ReasonCode, ((...values: string[]) => WaitWords) | null> = {
  agent_busy: () => WHEN_IDLE,
  agent_busy_until_turn_end: () => WHEN_IDLE,
  other_first: () => later("Another message is ahead."),
  agent_moved: () => later("The agent has just moved; your message is delivered there."),
  agent_waits: (what) => long(ANSWER(what!)),
  agent_waits_for_user: () => long(ANSWER("a question")),
  dialog_open: (what) => long(ANSWER(what!)),
  draft_open: () => long("Somebody is typing at the terminal; your message is delivered when the input line is free."),
  draft_stays: () =>
    long("There is a draft in the input line; your message is delivered when the draft is sent or deleted."),
  draft_other: () =>
    long("There is other text in the input line; your message is delivered when it is sent or deleted."),
  draft_empty: null,
  no_input_line: () => long("The agent's screen shows no input line; check its terminal."),
  screen_moves: () => long("The agent's screen keeps changing; your message is delivered when it settles."),
  not_in_tmux: () => now("Not in tmux, so nothing can be typed; exit the agent at its terminal, then /resume it here."),
  never_heard: () =>
    now(
      "No hooks, so the agent's location is unknown; run `throughline setup` on the computer, exit the agent, then /resume it here.",
    ),
  cannot_type: (agent) => UNTYPED(agent!),
  cannot_type_but_fetch: (agent) => UNTYPED(agent!),
  not_shown: () => now("The session is open in no terminal; open it on the computer to have your message delivered."),
  no_way_in: () => NO_HOOK,
  no_way_in_but_fetch: () => NO_HOOK,
  nobody_to_wake: () => NO_HOOK,
  agent_fetches: () => later("The agent fetches its messages itself, the next time it asks."),
  owner_words_typed: () => now("Your messages are only typed into tmux panes, and the agent does not run in tmux."),
  session_ended: () => now("The session has ended; your message is delivered when it is resumed.", true),
  session_elsewhere: (host) =>
    now(`The session was last seen on ${host}; your message is delivered when it continues there.`),
  session_unknown: () => now("The session is no longer stored; start another with /new."),
  pane_gone: () => PANE,
  pane_dead: () => PANE,
  pane_left: () => PANE,
  pane_other_program: () => PANE,
  not_reached_input: () => later("Delivery is being retried."),
  not_taken: () => later("Delivery is being retried."),
  agent_lacks_it: () => later("Delivery is being retried."),
  ended_before_taken: () => later("Delivery is being retried."),
  // Of teams, of what is over, and of calls that are refused.
  ...nothing(
    ...(["team_unknown", "team_may_return", "team_away", "not_arrived", "found_in_records", "unacknowledged"] as const),
    ...(["idle_again", "turn_interrupted", "ended_since", "terminal_unknown", "command_untold"] as const),
    ...(["worked_silently", "never_acknowledged", "receiver_unknown", "ended_before_told", "nothing_tells"] as const),
    ...([
      "nothing_captured",
      "refused",
      "agent_said",
      "failed",
      "unreadable",
      "session_closed_early",
      "lost_by_agent",
    ] as const),
    ...(["expired", "attempts_spent", "forgotten", "taken_back", "left", "said_again", "duplicate"] as const),
    ...(["target_unknown", "target_ambiguous", "target_log", "target_subagent", "in_delivery", "state_is"] as const),
    ...(["state_is_already", "agent_idle", "still_busy", "no_escape", "at_work", "handed"] as const),
    ...([
      "asked_again",
      "never_asked_again",
      "in_open_session",
      "open_session_closed",
      "session_open",
      "team_removed",
      "pair_unknown",
    ] as const),
    ...(["cannot_resume_yet", "process_busy", "pool_full", "needs_permission", "cancelled", "taken_out"] as const),
    ...(["no_reply", "ended_untaken", "ended_unfinished"] as const),
  ),
}

function nothing<Code extends ReasonCode>(...codes: Code[]): Record<Code, null> {
  return Object.fromEntries(codes.map((code) => [code, null])) as Record<Code, null>
}

/** What is said where a message waits for what its row says; undefined where there is nothing to say. */
export function waitWordsOf(outcome: string | null): WaitWords | undefined {
  const reason = outcome === null ? undefined : reasonIn(outcome)
  return reason && WAIT_WORDS[reason.code]?.(...reason.values)
}
