import * as z from "zod"

/** Why a message waits, was not taken, or came to an end, in the words that people, agents and programs read. */
export interface Reason {
  readonly code: ReasonCode
  readonly words: ReasonWords
}

declare const made: unique symbol
/** Only `because` makes them, so that no other words become a reason. */
export type ReasonWords = string & { readonly [made]: true }

/** Every reason there is. Words that are no part of a sentence here come from an agent, a person or a failure. */
export const REASONS = {
  // A message waits.
  agent_busy: () => "the agent is busy",
  agent_busy_until_turn_end: () => "the agent is busy; delivered at the end of its turn",
  agent_waits: (what: string) => `the agent is waiting for its user (${plainWords(what)})`,
  agent_moved: () => "the agent has moved",
  other_first: () => "another message is ahead",
  not_in_tmux: () => "the owner's own words can only be typed into a tmux pane",
  never_heard: () =>
    "the owner's own words can only be typed into a tmux pane, and no hook has reported where the agent runs",
  cannot_type: (agent: string) => `${agent} does not accept typed messages`,
  cannot_type_but_fetch: (agent: string) => `${agent} does not accept typed messages; it can fetch the message itself`,
  not_shown: () => "the session is open in no terminal",
  no_way_in: () => "no route to the agent",
  no_way_in_but_fetch: () => "no route to the agent; it can fetch the message itself",
  nobody_to_wake: () => "the agent's background hook has ended",
  owner_words_typed: () => "the owner's own words are only typed",
  agent_fetches: () => "the agent fetches its messages itself",
  session_ended: () => "the session has ended",
  session_elsewhere: (host: string) => `the session was last seen on ${host}`,
  session_unknown: () => "the session is no longer stored",
  team_unknown: (team: string) => `the team ${team} is not in the configuration`,
  team_may_return: (team: string) => `the session of ${team} is gone and may come back`,
  team_away: (team: string) => `no running session of ${team}`,
  dialog_open: (what: string) => `the agent's screen shows a question (${what})`,
  draft_open: () => "somebody is typing in the input line",
  draft_stays: () => "the draft in the input line could not be set aside",
  draft_other: () => "the input line contains something else",
  draft_empty: () => "the input line is empty",
  no_input_line: () => "the screen shows no input line",
  screen_moves: () => "the screen keeps changing",
  pane_gone: () => "the pane was closed or replaced",
  pane_dead: () => "the program in the pane has ended",
  pane_left: () => "the agent no longer runs in the pane",
  pane_other_program: () => "another program is in the pane",

  // It is tried again.
  not_reached_input: () => "it never reached the input line",
  not_taken: () => "the agent did not accept it",
  agent_lacks_it: () => "the agent does not have it",
  ended_before_taken: () => "the agent ended before accepting it",
  not_arrived: () => "it had not arrived",

  // It arrived, or its turn is over.
  found_in_records: () => "found in the agent's own records",
  unacknowledged: () => "the agent does not acknowledge messages",
  idle_again: () => "the agent is idle again",
  turn_interrupted: () => "its turn was interrupted",
  asked_again: () => "the agent has fetched again since",
  ended_since: () => "the session has ended since",

  // It may have arrived.
  terminal_unknown: () => "the agent's terminal is no longer known",
  command_untold: () => "the agent does not acknowledge commands",
  worked_silently: () => "the agent has been active since but never acknowledged this message",
  never_acknowledged: () => "it was submitted but the agent never acknowledged it",
  receiver_unknown: () => "the receiving session is unknown",
  ended_before_told: () => "the agent ended before it was delivered",
  never_asked_again: () => "the agent fetched it, but did not fetch again before another session took over",
  nothing_tells: () => "there is no evidence of delivery",
  nothing_captured: () => "nothing is captured that could confirm it",

  // It failed, or was taken out.
  refused: (words: string) => words,
  agent_said: (words: string) => words,
  failed: (words: string) => words,
  unreadable: (where: string) => `its stored content is damaged at ${where}; send it again`,
  session_closed_early: () => "the session ended mid-turn",
  lost_by_agent: () => "the agent no longer has it",
  expired: () => "it expired before it could be delivered",
  attempts_spent: () => "no attempt succeeded",
  forgotten: () => "it was forgotten",
  taken_back: () => "cancelled",
  left: () => "dismissed",
  said_again: (id: string) => `resent as ${id}`,

  // A call is refused.
  duplicate: () => "duplicate",
  target_unknown: (target: string) => `unknown target: ${target}`,
  target_ambiguous: (id: string) => `ambiguous target: more than one session id starts with ${id}`,
  target_log: (id: string) =>
    `session ${id} is a log file, where no agent reads messages; name a team or a running session`,
  target_subagent: () => "a sub-agent takes no messages; its parent does",
  in_delivery: () => "it is being delivered right now",
  state_is: (state: string) => `it is ${state}`,
  state_is_already: (state: string) => `it is ${state} already`,
  agent_idle: () => "the agent is idle",
  agent_waits_for_user: () => "the agent waits for its user",
  still_busy: () => "the agent was told to stop but is still busy",
  no_escape: () => "it does not run in tmux, so Escape cannot be sent",

  // A question of one team to another.
  at_work: () => "the agent is working on it",
  handed: () => "queued for the session that a person has open",
  in_open_session: () => "delivered to the session that a person has open",
  open_session_closed: () => "the target session was closed",
  session_open: () => "a person has this pair's session open",
  team_removed: (team: string) => `the team ${team} is no longer in the configuration`,
  pair_unknown: () => "its pair no longer exists",
  cannot_resume_yet: () => "the agent cannot resume the session yet",
  process_busy: () => "the agent is busy with another question",
  pool_full: (count: string) => `all ${count} allowed processes are busy`,
  needs_permission: (tools: string) => `waiting for a person to allow ${tools}`,
  cancelled: () => "it was cancelled",
  taken_out: () => "it was removed from the queue",
  no_reply: () => "delivered to the open session, whose turn ended without a reply",
  ended_untaken: () => "Throughline stopped before the agent accepted it",
  ended_unfinished: () => "Throughline stopped, and then the agent, before it answered",
} satisfies Record<string, (...values: string[]) => string>

export type ReasonCode = keyof typeof REASONS

export function because<Code extends ReasonCode>(code: Code, ...values: Parameters<(typeof REASONS)[Code]>): Reason {
  const words = (REASONS[code] as (...values: string[]) => string)(...values)
  return { code, words: words as ReasonWords }
}

/** As what is kept of it: the words alone. */
export const wordsOf = (reason: Reason | null | undefined): ReasonWords | null => reason?.words ?? null

/** The process that works on a question: stored in place of a reason, and shown as `at_work`. */
type Worker = z.output<typeof Worker>
const Worker = z.object({ pid: z.int().positive(), start: z.string() })

export const workedOnBy = (pid: number, start: string): string => JSON.stringify({ pid, start } satisfies Worker)

export function workerIn(outcome: string | null): Worker | undefined {
  if (!outcome?.startsWith("{")) return undefined
  try {
    return Worker.safeParse(JSON.parse(outcome)).data
  } catch {
    return undefined
  }
}

/** The reason that a row holds, as it may be shown. */
export const shownReason = (outcome: string | null): string | null => (workerIn(outcome) ? REASONS.at_work() : outcome)

/** The reason that these words say, with its values. What an agent, a person or a failure said is none of them. */
export function reasonIn(words: string): { code: ReasonCode; values: string[] } | undefined {
  for (const [code, pattern] of patterns()) {
    const values = pattern.exec(words)?.slice(1)
    if (values) return { code, values }
  }
  return undefined
}

const HOLE = "\u0001"
let known: [ReasonCode, RegExp][] | undefined
/** Those without a value first: a value could be anything. */
const patterns = () =>
  (known ??= (Object.keys(REASONS) as ReasonCode[])
    .map((code) => [code, (REASONS[code] as (value: string) => string)(HOLE)] as const)
    .filter(([, words]) => words !== HOLE)
    .sort(([, a], [, b]) => Number(a.includes(HOLE)) - Number(b.includes(HOLE)))
    .map(([code, words]) => [code, new RegExp(`^${escaped(words).replace(HOLE, "(.*)")}$`, "s")]))
const escaped = (words: string) => words.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Agents name what they wait for in words of their programs: waitingOnApproval, permission_prompt. */
export function plainWords(name: string): string {
  if (/[\s.?!]/.test(name.trim())) return name.trim()
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .trim()
    .toLowerCase()
}
