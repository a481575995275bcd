import type { LineageKind } from "./capture.ts"
import type { SessionId } from "./ids.ts"
import type { JournalEntry } from "./journal.ts"

/** What an agent's hook said, as it came: by the socket, or by the spool when the daemon was away. */
export interface SentHook {
  platform: string
  /** The sender's own; the same event may come by both ways. */
  key: string
  atMs: number
  /** A few variables of the agent's environment, and PPID: the process that ran the hook. */
  env: Record<string, string>
  /** The agent's payload. */
  body: string
}

/** What one event means. Names and ids only; what was said is in the agent's own records. */
export interface HookEvent {
  /** The agent's own name for it. */
  name: string
  sessionId?: string
  /** The folder in which the agent works. */
  cwd?: string
  /** Files in which there may be something new. */
  transcripts: string[]
  /** The agent's process. */
  pid?: number
  /** Set when a session begins or goes on: startup, resume, clear, compact, fork, or what the agent calls it. */
  start?: string
  /** Set when the session ends: why. */
  end?: string
  /** Where the session comes from, when the agent says so. */
  parent?: { sessionId: string; kind: LineageKind }
  /** Other small words of it: trigger, tool, sub-agent. */
  details: Record<string, string>
}

/** The event of a prompt in Claude Code and Codex, Gemini CLI, and opencode. */
export const PROMPT_EVENTS = ["UserPromptSubmit", "BeforeAgent", "chat.message"]

/** What the agent said, as far as it can be read: that something happened may be all that is known. */
export function hookPayload({ body }: SentHook): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // An event without a name is kept all the same.
  }
  return {}
}

/** As much of a payload as a hook reads, which is more than any agent sends; the daemon and the spool take twice as much. */
export const MAX_HOOK_BYTES = 16 * 1024 * 1024

/** Whether the hook has cut it: it is about that long and no JSON. A character may have four bytes. */
export function isCutHook({ body }: SentHook): boolean {
  if (body.length < MAX_HOOK_BYTES / 4 - 1) return false
  try {
    JSON.parse(body)
    return false
  } catch {
    return true
  }
}

/** In the spool: a session was told nothing at its start, so the next prompt's hook waits longer for the daemon. */
export const MISSED_START = ".missed-start"

export const HOOK_PATH = "/hook"
/** Where a hook asks that waits in the background of its agent. */
export const WAIT_PATH = "/wait"
/** Where a hook asks for a person's word, by these steps; the later ones are the query. */
export const ASK_PATH = "/ask"
/** It asks; it waits for the answer; it has printed that. */
export type AskStep = "ask" | "held" | "taken"
const KEY = "throughline-key"
const AT = "throughline-at"
const ENV = "throughline-env-"

/** From the lines that hook.sh sends as headers, and writes into the spool. `throughline-at` is in nanoseconds. */
export function sentHook(
  platform: string,
  headers: Iterable<[string, string]>,
  body: string,
  otherwise: { key: string; atMs: number },
): SentHook {
  const sent: SentHook = { platform, ...otherwise, env: {}, body }
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    const atMs = Math.trunc(Number(value) / 1e6)
    if (lower === KEY && value !== "") sent.key = value
    else if (lower === AT && atMs > 0) sent.atMs = atMs
    else if (lower.startsWith(ENV)) sent.env[lower.slice(ENV.length).toUpperCase()] = value
  }
  return sent
}

/** Those lines, for senders that are not hook.sh. */
export function hookHeaders({ key, atNs, env }: { key: string; atNs: bigint; env: Record<string, string> }) {
  return {
    [KEY]: key,
    [AT]: String(atNs),
    ...Object.fromEntries(Object.entries(env).map(([name, value]) => [ENV + name, value])),
  }
}

/** The variables that are handed on, where they are set. */
export const HOOK_ENV = [
  "TMUX",
  "TMUX_PANE",
  "CLAUDE_PID",
  "CLAUDE_PROJECT_DIR",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "GEMINI_SESSION_ID",
  "CURSOR_PROJECT_DIR",
] as const

/** The oldest Claude Code of which it was seen that it does not wait for a hook that waits; those before may. */
export const WAITING_SINCE = [2, 1, 197] as const

/** In a program's own process nobody sits before a dialog, and that program is asked by other means. */
export const mayAsk = ({ CLAUDE_CODE_ENTRYPOINT = "" }: Record<string, string | undefined>) =>
  !CLAUDE_CODE_ENTRYPOINT.startsWith("sdk")

/** In print mode nobody is there to be woken, and the agent would wait for the hook. */
export function mayWait({ CLAUDE_CODE_ENTRYPOINT, AI_AGENT = "" }: Record<string, string | undefined>): boolean {
  const version = /^claude-code_(\d+)-(\d+)-(\d+)/.exec(AI_AGENT)?.slice(1).map(Number)
  if (CLAUDE_CODE_ENTRYPOINT !== "cli" || !version) return false
  const at = WAITING_SINCE.findIndex((part, index) => part !== version[index])
  return at < 0 || version[at]! > WAITING_SINCE[at]!
}

/** What an agent's hook said, as the journal has it. */
export interface HookEntry {
  sessionId: SessionId
  platform: string
  nativeId: string
  /** 0 where the hook could not tell. */
  pid: number
  /** Set when a session begins or goes on: startup, resume, clear, compact, fork. */
  start: string | undefined
  /** Set when it ends: why. */
  end: string | undefined
  /** The folder of the project that the agent was started in, or else where it works now. */
  dir: string | null
  tmux: { socket: string; serverPid: number; pane: string } | undefined
  isUnattended: boolean
  atMs: number
}

/** Undefined for other entries, and for what sub-agents say: they come and go within their session. */
export function hookEntry({ kind, sessionId, atMs, data }: JournalEntry): HookEntry | undefined {
  if (kind !== "hook.received" || sessionId === null || typeof data.agent_id === "string") return undefined
  const env = (data.env ?? {}) as Record<string, string>
  return {
    sessionId: sessionId as SessionId,
    platform: String(data.platform),
    nativeId: String(data.session),
    pid: typeof data.pid === "number" ? data.pid : 0,
    start: word(data.start),
    end: word(data.end),
    dir: env.CLAUDE_PROJECT_DIR ?? env.CURSOR_PROJECT_DIR ?? word(data.cwd) ?? null,
    tmux: tmuxOf(env),
    isUnattended: isUnattended(data),
    atMs,
  }
}

/** Claude Code says so to its hooks: `cli` is a person's terminal, `sdk-cli` and its like are not. */
export function isUnattended({ env, unattended }: JournalEntry["data"]): boolean {
  const entrypoint = (env as Record<string, string> | undefined)?.CLAUDE_CODE_ENTRYPOINT ?? ""
  return unattended === "true" || entrypoint.startsWith("sdk")
}

/** `$TMUX` is socket, the server's process and a number; sockets may have commas in their names. */
function tmuxOf({ TMUX = "", TMUX_PANE = "" }: Record<string, string>): HookEntry["tmux"] {
  const [, socket, serverPid] = /^(.+),(\d+),\d+$/.exec(TMUX) ?? []
  return socket === undefined || !/^%\d+$/.test(TMUX_PANE)
    ? undefined
    : { socket, serverPid: Number(serverPid), pane: TMUX_PANE }
}

const word = (value: unknown) => (typeof value === "string" ? value : undefined)
