import type { SessionId } from "./ids.ts"
import type { JournalEntry } from "./journal.ts"

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
