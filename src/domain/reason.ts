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
  agent_busy_until_turn_end: () => "the agent is busy; it is told at the end of its turn",
  agent_waits: (what: string) => `the agent waits for its user (${plainWords(what)})`,
  agent_moved: () => "the agent is in another place now",
  other_first: () => "another message goes first",
  not_in_tmux: () => "the owner's own words need a terminal in tmux to be typed into",
  never_heard: () => "the owner's own words need a terminal in tmux, and no hook has told where the agent runs",
  cannot_type: (agent: string) => `nothing can be typed into ${agent} from here`,
  cannot_type_but_fetch: (agent: string) =>
    `nothing can be typed into ${agent} from here; the agent can fetch the message itself`,
  not_shown: () => "no terminal shows the session now",
  no_way_in: () => "there is no way in now",
  no_way_in_but_fetch: () => "there is no way in now; the agent can fetch the message itself",
  nobody_to_wake: () => "the agent's hook that could be woken has ended",
  owner_words_typed: () => "the owner's own words are typed",
  agent_fetches: () => "its agent fetches its messages itself",
  session_ended: () => "the session has ended",
  session_elsewhere: (host: string) => `the session was last seen on ${host}`,
  session_unknown: () => "the session is not kept any more",
  team_unknown: (team: string) => `the team ${team} is not in the configuration`,
  team_may_return: (team: string) => `the session of ${team} is gone, and may come back`,
  team_away: (team: string) => `no session of ${team} is live`,
  dialog_open: (what: string) => `the agent's screen shows a question (${what})`,
  draft_open: () => "somebody is writing in the input line",
  draft_stays: () => "the draft in the input line could not be put aside",
  draft_other: () => "the input line does not hold it",
  draft_empty: () => "the input line is empty",
  no_input_line: () => "the screen shows no input line",
  screen_moves: () => "the screen does not keep still",
  pane_gone: () => "the pane is another one, or is closed",
  pane_dead: () => "the program in the pane has ended",
  pane_left: () => "the agent no longer runs in the pane",
  pane_other_program: () => "another program is in the pane",

  // It is tried again.
  not_reached_input: () => "it had not reached the input line",
  not_taken: () => "the agent did not take it",
  agent_lacks_it: () => "the agent does not have it",
  ended_before_taken: () => "the agent ended before it took it",
  not_arrived: () => "it had not arrived",

  // It arrived, or its turn is over.
  found_in_records: () => "found in the agent's own records",
  unacknowledged: () => "the agent does not say by itself that it has it",
  idle_again: () => "the agent is idle again",
  turn_interrupted: () => "its turn was interrupted",
  asked_again: () => "its agent has asked for more since",
  ended_since: () => "the session has ended since",

  // It may have arrived.
  terminal_unknown: () => "the agent's terminal is not known any more",
  command_untold: () => "the agent does not say by itself that it has run a command",
  worked_silently: () => "the agent has worked since, and did not say on what",
  never_acknowledged: () => "it was submitted, and the agent never acknowledged it",
  receiver_unknown: () => "it is not known to whom it went",
  ended_before_told: () => "the agent ended before it could be told",
  never_asked_again: () => "its agent fetched it, and did not ask again before another session was named",
  nothing_tells: () => "nothing tells whether it arrived",
  nothing_captured: () => "nothing is captured that could tell what became of it",

  // It failed, or was taken out.
  refused: (words: string) => words,
  agent_said: (words: string) => words,
  failed: (words: string) => words,
  session_closed_early: () => "the session ended before its turn was over",
  lost_by_agent: () => "the agent does not have it any more",
  expired: () => "its time ran out before it could be delivered",
  attempts_spent: () => "no attempt succeeded",
  forgotten: () => "it was forgotten",
  taken_back: () => "taken back",
  left: () => "left as it is",
  said_again: (id: string) => `said again as ${id}`,

  // A call is refused.
  duplicate: () => "duplicate",
  target_unknown: (target: string) => `unknown target: ${target}`,
  target_ambiguous: (id: string) => `ambiguous target: more than one session begins with ${id}`,
  target_log: (id: string) =>
    `session ${id} is a log that an agent wrote, and no agent reads messages there; name a team or a live session`,
  target_subagent: () => "a sub-agent takes no messages; its parent does",
  in_delivery: () => "it is being delivered right now",
  state_is: (state: string) => `it is ${state}`,
  state_is_already: (state: string) => `it is ${state} already`,
  agent_idle: () => "the agent is idle",
  agent_waits_for_user: () => "the agent waits for its user",
  still_busy: () => "the agent was told to stop, and is busy still",
  no_escape: () => "it does not run in tmux, where Escape could be pressed",

  // A question of one team to another.
  at_work: () => "its agent is at work on it",
  handed: () => "it waits to be said in the session that a person has open",
  in_open_session: () => "said in the session that a person has open",
  open_session_closed: () => "the session that it was for was closed",
  session_open: () => "somebody has this pair's session open",
  team_removed: (team: string) => `the team ${team} is not in the configuration any more`,
  pair_unknown: () => "its pair is not known any more",
  cannot_resume_yet: () => "its agent cannot go on with the session yet",
  process_busy: () => "its agent is busy with another question",
  pool_full: (count: string) => `all ${count} processes that may run are busy`,
  needs_permission: (tools: string) => `it waits for a person to allow ${tools}`,
  cancelled: () => "it was cancelled",
  taken_out: () => "it was taken out of the queue",
  no_reply: () => "it was said in the open session, whose turn ended without a reply",
  ended_untaken: () => "Throughline was ended before the agent had taken it",
  ended_unfinished: () => "Throughline was ended, and then the agent, before it had answered",
} satisfies Record<string, (...values: string[]) => string>

export type ReasonCode = keyof typeof REASONS

export function because<Code extends ReasonCode>(code: Code, ...values: Parameters<(typeof REASONS)[Code]>): Reason {
  const words = (REASONS[code] as (...values: string[]) => string)(...values)
  return { code, words: words as ReasonWords }
}

/** As what is kept of it: the words alone. */
export const wordsOf = (reason: Reason | null | undefined): ReasonWords | null => reason?.words ?? null

/** Which process works on a question: kept where a reason would be, and shown as `at_work`. */
export const workedOnBy = (pid: number, start: string) => `process ${pid} since ${start}`

export function workerIn(outcome: string | null): { pid: number; start: string } | undefined {
  const [, pid, start] = /^process (\d+) since (.+)$/.exec(outcome ?? "") ?? []
  return pid === undefined ? undefined : { pid: Number(pid), start: start! }
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
