import type { HookEvent } from "../../../domain/hook.ts"
import { promptHash } from "../../../domain/ids.ts"
import { MESSAGE_ID } from "../../../domain/message.ts"
import type { Program } from "../../../domain/setup.ts"
import { shellWord } from "./files.ts"
import type { JsonFile } from "./json.ts"

/** Does nothing once the script is gone. `exec` makes the agent its parent process. */
export function hookCommand({ hook }: Program, platform: string, mode?: "wait" | "ask"): string {
  const script = shellWord(hook)
  return `[ ! -x ${script} ] || exec ${script} ${platform}${mode === undefined ? "" : ` ${mode}`}`
}

interface Handler extends Record<string, unknown> {
  command: string
}

/** Claude Code's form, used by most agents: hooks.<Event>[] = { matcher?, hooks: [handler] }. */
export function addGrouped(file: JsonFile, events: readonly string[], handler: Handler, { hook }: Program): void {
  file.object(["hooks"])
  for (const event of events) {
    const groups = file.array(["hooks", event])
    const mine = groups.flatMap((group, at) =>
      handlersOf(group).flatMap((one, index) =>
        isOurs(one, hook) && modeOf(one as Handler) === modeOf(handler) ? [{ path: [at, "hooks", index], one }] : [],
      ),
    )
    if (mine.length === 0) file.append(["hooks", event], { hooks: [handler] })
    for (const { path, one } of mine) {
      if ((one as Handler).command !== handler.command) file.set(["hooks", event, ...path, "command"], handler.command)
    }
  }
}

export function removeGrouped(file: JsonFile, { hook }: Program): void {
  for (const event of Object.keys(file.object(["hooks"]))) {
    const groups = file.at(["hooks", event])
    if (!Array.isArray(groups)) continue
    for (const at of groups.keys().toArray().toReversed()) {
      const handlers = handlersOf(groups[at])
      const mine = handlers
        .keys()
        .toArray()
        .filter((index) => isOurs(handlers[index], hook))
      if (mine.length === 0) continue
      if (mine.length === handlers.length) file.remove(["hooks", event, at])
      else for (const index of mine.toReversed()) file.remove(["hooks", event, at, "hooks", index])
    }
    dropEmpty(file, event, groups)
  }
}

/** Cursor's form: hooks.<event>[] = handler. */
export function addFlat(file: JsonFile, events: readonly string[], handler: Handler, { hook }: Program): void {
  file.object(["hooks"])
  for (const event of events) {
    const handlers = file.array(["hooks", event])
    const at = handlers.findIndex((one) => isOurs(one, hook))
    if (at < 0) file.append(["hooks", event], handler)
    else if ((handlers[at] as Handler).command !== handler.command)
      file.set(["hooks", event, at, "command"], handler.command)
  }
}

export function removeFlat(file: JsonFile, { hook }: Program): void {
  for (const event of Object.keys(file.object(["hooks"]))) {
    const handlers = file.at(["hooks", event])
    if (!Array.isArray(handlers)) continue
    for (const at of handlers.keys().toArray().toReversed())
      if (isOurs(handlers[at], hook)) file.remove(["hooks", event, at])
    dropEmpty(file, event, handlers)
  }
}

/** Drops lists that our removal has emptied. */
function dropEmpty(file: JsonFile, event: string, before: unknown[]): void {
  if (before.length === 0) return
  file.removeIfEmpty(["hooks", event])
  file.removeIfEmpty(["hooks"])
}

function handlersOf(group: unknown): unknown[] {
  const { hooks } = (typeof group === "object" && group !== null ? group : {}) as { hooks?: unknown }
  return Array.isArray(hooks) ? hooks : []
}

function isOurs(handler: unknown, hook: string): boolean {
  const { command } = (typeof handler === "object" && handler !== null ? handler : {}) as { command?: unknown }
  return typeof command === "string" && command.includes(shellWord(hook))
}

const modeOf = ({ command }: Handler) => / (wait|ask)$/.exec(command)?.[1]

/** The fields shared by the hooks of Claude Code, Codex and Gemini CLI. */
export function readCommon(payload: Record<string, unknown>, env: Record<string, string>): HookEvent {
  const word = (key: string) => {
    const value = payload[key]
    return typeof value === "string" && value !== "" ? value : undefined
  }
  const name = word("hook_event_name") ?? ""
  const pid = Number(env.PPID)
  const [sessionId, cwd, source, reason] = [word("session_id"), word("cwd"), word("source"), word("reason")]
  return {
    name,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(pid > 0 ? { pid } : {}),
    ...(/^sessionStart$/i.test(name) ? { start: source ?? "startup" } : {}),
    ...(/^sessionEnd$/i.test(name) ? { end: reason ?? "other" } : {}),
    transcripts: ["transcript_path", "agent_transcript_path"].flatMap((key) => word(key) ?? []),
    details: {
      ...Object.fromEntries(DETAILS.flatMap((key) => (word(key) === undefined ? [] : [[key, word(key)!]]))),
      ...(/^userPromptSubmit$/i.test(name) ? promptDetails(word("prompt") ?? "") : {}),
      ...(/^stop$/i.test(name) ? replyDetails(word("last_assistant_message")) : {}),
      ...(name === "StopFailure" ? errorDetails(word("error")) : {}),
      ...(typeof payload.stop_hook_active === "boolean" ? { stop_hook_active: String(payload.stop_hook_active) } : {}),
    },
  }
}

/** Identifies a message that we sent, without storing the prompt. */
function promptDetails(prompt: string): Record<string, string> {
  const ids = new Set(prompt.match(MESSAGE_ID))
  return { prompt_hash: promptHash(prompt), ...(ids.size === 0 ? {} : { message_ids: [...ids].join(",") }) }
}

/** Identifies the turn's last reply. */
const replyDetails = (reply: string | undefined) => (reply === undefined ? {} : { reply_hash: promptHash(reply) })

/** An error's kind is one word; anything longer may contain the conversation. */
const errorDetails = (error: string | undefined) =>
  error !== undefined && /^[a-z][a-z0-9_-]{0,40}$/i.test(error) ? { error } : {}

/** Short fields that describe the event, never the conversation. */
const DETAILS = [
  "trigger",
  "tool_name",
  "tool_use_id",
  "agent_id",
  "agent_type",
  "prompt_id",
  "turn_id",
  "model",
  "notification_type",
]

/** Hook output that gives a new session context, in Claude Code's form. */
export function contextAtStart(text: string): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: text } })
}

/** Hook output that adds context to a prompt; the event's name differs by agent. */
export const contextAtPrompt = (hookEventName: string) => (text: string) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: text } })

/** Hook output that continues a turn that is about to end. */
export function contextAtStop(text: string): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName: "Stop", additionalContext: text } })
}
