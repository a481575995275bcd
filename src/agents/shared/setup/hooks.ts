import type { HookEvent } from "../../../domain/hook.ts"
import { promptHash } from "../../../domain/ids.ts"
import { MESSAGE_ID } from "../../../domain/message.ts"
import type { Program } from "../../../domain/setup.ts"
import { defined } from "../../../lib/defined.ts"
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

/** Most agents' form: hooks.<event>[] = { matcher?, hooks: [handler] }. In Cursor's the `entry` is the handler. */
export function addHooks(
  file: JsonFile,
  events: readonly string[],
  handler: Handler,
  { hook }: Program,
  entry: object = { hooks: [handler] },
): void {
  file.object(["hooks"])
  for (const event of events) {
    const entries = file.array(["hooks", event])
    const mine = entries
      .flatMap((one, at) => handlersOf(one, at))
      .filter(({ one }) => isOurs(one, hook) && modeOf(one) === modeOf(handler))
    if (mine.length === 0) file.append(["hooks", event], entry)
    for (const { path, one } of mine)
      if (one.command !== handler.command) file.set(["hooks", event, ...path, "command"], handler.command)
  }
}

export function removeHooks(file: JsonFile, { hook }: Program): void {
  for (const event of Object.keys(file.object(["hooks"]))) {
    const entries = file.at(["hooks", event])
    if (!Array.isArray(entries) || entries.length === 0) continue
    for (const at of entries.keys().toArray().toReversed()) {
      const handlers = handlersOf(entries[at], at)
      const mine = handlers.filter(({ one }) => isOurs(one, hook))
      const paths = mine.length < handlers.length ? mine.map(({ path }) => path) : mine.length > 0 ? [[at]] : []
      for (const path of paths.toReversed()) file.remove(["hooks", event, ...path])
    }
    file.removeIfEmpty(["hooks", event])
    file.removeIfEmpty(["hooks"])
  }
}

/** A group's handlers, or the entry itself. */
function handlersOf(entry: unknown, at: number) {
  const { hooks } = (entry ?? {}) as { hooks?: unknown }
  if (!Array.isArray(hooks)) return [{ path: [at], one: (entry ?? {}) as Handler }]
  return hooks.map((one, index) => ({ path: [at, "hooks", index], one: (one ?? {}) as Handler }))
}

function isOurs({ command }: { command?: unknown }, hook: string): boolean {
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
  return {
    name,
    ...defined({
      sessionId: word("session_id"),
      cwd: word("cwd"),
      pid: pid > 0 ? pid : undefined,
      start: /^sessionStart$/i.test(name) ? (word("source") ?? "startup") : undefined,
      end: /^sessionEnd$/i.test(name) ? (word("reason") ?? "other") : undefined,
    }),
    transcripts: ["transcript_path", "agent_transcript_path"].flatMap((key) => word(key) ?? []),
    details: {
      ...(defined(Object.fromEntries(DETAILS.map((key) => [key, word(key)]))) as Record<string, string>),
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
const DETAILS = "trigger tool_name tool_use_id agent_id agent_type prompt_id turn_id model notification_type".split(" ")

/** Hook output in Claude Code's form: context for a new session or a prompt, or words that continue an ending turn. */
export const contextAt = (hookEventName: string) => (text: string) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: text } })
