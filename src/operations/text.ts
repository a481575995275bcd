import { FETCHES } from "../domain/message.ts"
import { UNTRUSTED_LABEL } from "../domain/origin.ts"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/time.ts"
import type { Style } from "./operation.ts"
import type { ConversationView, RunView, SessionView, ThoughtView, TurnView } from "./views.ts"

/** Plain text for people: a table whose columns are as wide as their widest cell. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)))
  const line = (cells: string[]) =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column]!))).join("  ")
  return [line(head), ...rows.map(line)].join("\n")
}

export function conversationTable(sessions: ConversationView[]): string {
  return table(
    ["ID", "UPDATED", "AGENT", "SAID", "PROJECT", "TITLE"],
    sessions.map((session) => [
      session.id.slice(0, 8),
      minute(session.updatedAt),
      session.platform,
      amount(session),
      projectName(session.mcpRootUri),
      `${session.pinned ? "[pinned] " : ""}${session.archived ? "[archived] " : ""}${session.subagent ? "[sub-agent] " : ""}${mark(session)}${clip(session.title, 60)}${session.domain === undefined ? "" : ` (${clip(session.domain, 40)})`}`,
    ]),
  )
}

export function conversationLine(session: ConversationView): string {
  const about = [
    session.platform,
    session.domain && `domain ${session.domain}`,
    session.model,
    session.gitBranch && `branch ${session.gitBranch}`,
  ]
    .filter(Boolean)
    .join(", ")
  return `${mark(session)}${session.id} "${session.title}" (${about}; ${amount(session)}, updated ${session.updatedAt})`
}

/** Marks content of a repository's own files. */
export const mark = ({ untrusted }: { untrusted?: true | undefined }) => (untrusted ? `[${UNTRUSTED_LABEL}] ` : "")

function amount({ promptCount, turnCount, thoughtCount, branchCount }: ConversationView): string {
  const parts = [
    turnCount > 0 ? `${counted(promptCount, "prompt")}, ${counted(turnCount, "turn")}` : "",
    thoughtCount > 0 || turnCount === 0 ? counted(thoughtCount, "thought") : "",
    branchCount > 0 ? counted(branchCount, "branch", "branches") : "",
  ]
  return parts.filter((part) => part !== "").join(", ")
}

const MARKS: Record<TurnView["kind"], string> = {
  prompt: "> ",
  reply: "",
  reasoning: "Thinking: ",
  tool_call: "→ ",
  tool_result: "← ",
  summary: "(summary) ",
  reset: "--- context reset --- ",
}
/** Tool traffic is abbreviated; JSON and export have it in full. */
const BRIEF_CHARS = 200

export function turnLines(turns: TurnView[]): string[] {
  return turns.flatMap((turn) => {
    const isTool = turn.kind === "tool_call" || turn.kind === "tool_result"
    const text = isTool ? clip(turn.text, BRIEF_CHARS) : turn.text
    const tool = turn.toolName === undefined ? "" : `${turn.toolName} `
    const gone = turn.superseded ? "[rewound] " : ""
    return [`${gone}${MARKS[turn.kind]}${tool}${text}`, ...(isTool ? [] : [""])]
  })
}

export function runLine({ pid, pane, start, startedAt, seenAt, endedAt, end }: RunView): string {
  const until = endedAt === undefined ? `last seen ${seenAt}` : `ended ${endedAt} (${end})`
  const where = `${pid === undefined ? "" : `, pid ${pid}`}${pane === undefined ? "" : `, pane ${pane.split(" ").at(-1)}`}`
  return `Ran:     from ${startedAt}${start === undefined ? "" : ` (${start})`}, ${until}${where}`
}

export function sessionLine(session: SessionView): string {
  const domain = session.domain === undefined ? "" : `domain ${session.domain}, `
  return `${session.id} "${session.title}" (${domain}${counted(session.thoughtCount, "thought")}, ${counted(session.branchCount, "branch", "branches")}, updated ${session.updatedAt})`
}

export function thoughtLines(thoughts: ThoughtView[]): string[] {
  return thoughts.map(
    (t) => `${t.thoughtNumber}${t.revisesThought === undefined ? "" : ` (revises ${t.revisesThought})`}. ${t.thought}`,
  )
}

export function projectName(rootUri: string | undefined): string {
  if (rootUri === undefined) return "-"
  const name = rootUri.split("/").at(-1) ?? ""
  try {
    return decodeURIComponent(name) || "/"
  } catch {
    return name
  }
}

/** Local time to the minute. */
export function minute(iso: string): string {
  const at = new Date(iso)
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16).replace("T", " ")
}

interface FetchFacts {
  sessionId?: string | undefined
  sessionFileAt?: string | undefined
  waiting?: number | undefined
}

/** For an agent without hooks: how it gets messages, and the session it reported. */
export function fetchNote({ sessionId, sessionFileAt, waiting }: FetchFacts, nowMs = Date.now()): string {
  const age = sessionFileAt === undefined ? "" : `, written ${ago(nowMs - Date.parse(sessionFileAt))}`
  const session = sessionId === undefined ? "" : `; reported session ${sessionId}${age}`
  return `${FETCHES}${waiting === undefined ? "" : `, ${waiting} queued`}${session}`
}

/** Puts a colour square before each row. The cells must be sanitised: styled text is printed as is. */
export function coloured(rows: string, colours: readonly (string | undefined)[], style: Style): string {
  const [head, ...lines] = rows.split("\n")
  const square = (hex: string | undefined) => (hex === undefined ? " " : style.paint(hex, "■"))
  return [`  ${head}`, ...lines.map((line, at) => `${square(colours[at])} ${line}`)].join("\n")
}

/** A span of time as people say it: "just now", "2 minutes ago". */
export function ago(ms: number): string {
  for (const [unit, unitMs] of UNITS) if (ms >= unitMs) return `${counted(Math.floor(ms / unitMs), unit)} ago`
  return "just now"
}

const UNITS = [
  ["day", DAY_MS],
  ["hour", HOUR_MS],
  ["minute", MINUTE_MS],
] as const

/** Rounded to one decimal. */
export const average = (sum: number, count: number) => Math.round((sum / count) * 10) / 10

/** How an answer with exchanges begins. */
export const foundExchanges = (count: number) => `Found ${counted(count, "relevant past exchange")}`

export function clip(text: string, chars: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= chars ? line : `${line.slice(0, chars - 1)}…`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
