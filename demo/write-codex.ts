import { join } from "node:path"
import { type Files, iso, textTokens } from "./files.ts"
import { hexOf, idOf, type Story, type StoryStep } from "./story.ts"
import { edited } from "./write-claude.ts"

/** Writes what Codex would have written, and says under which id. */
export function writeCodex(story: Story, dir: string, files: Files): string {
  const { name, steps, startMs, title } = story
  const id = idOf("codex", name).replace(/-4/, "-7")
  const stamp = iso(startMs).slice(0, 19).replaceAll(":", "-")
  const day = stamp.slice(0, 10).replaceAll("-", "/")
  const records: object[] = []
  const add = (type: string, payload: object, atMs: number) => records.push({ timestamp: iso(atMs), type, payload })
  const meta = { id, timestamp: iso(startMs), cwd: dir, originator: "codex_cli_rs", cli_version: "0.166.0" }
  add("session_meta", { ...meta, source: "cli", model_provider: "openai", git: { branch: "main" } }, startMs)
  add("turn_context", { cwd: dir, model: "gpt-5.1-codex", approval_policy: "on-request" }, startMs)
  let [input, output] = [26_000, 0]
  for (const [index, step] of steps.entries()) {
    const { kind, text, atMs } = step
    const callId = `call_${hexOf(24, name, kind === "call" ? index : index - 1)}`
    if (kind === "summary") add("compacted", { message: text, replacement_history: [] }, atMs)
    else add("response_item", itemOf(step, callId, `rs_${hexOf(24, name, index)}`), atMs)
    input += textTokens(text) + 1_900
    if (kind !== "reply") continue
    output += textTokens(text) * 3 + 400
    const total = { input_tokens: input * 4, cached_input_tokens: input * 3, output_tokens: output }
    add("event_msg", { type: "token_count", info: { total_token_usage: total } }, atMs)
  }
  add("event_msg", { type: "thread_name_updated", thread_name: title }, steps.at(-1)!.atMs)
  files.lines(join(files.userDir, ".codex/sessions", day, `rollout-${stamp}-${id}.jsonl`), records, steps.at(-1)!.atMs)
  return id
}

function itemOf({ kind, text, tool }: StoryStep, callId: string, id: string): object {
  if (kind === "prompt") return { type: "message", role: "user", content: [{ type: "input_text", text }] }
  if (kind === "thinking") return { type: "reasoning", id, summary: [{ type: "summary_text", text }] }
  if (kind === "reply") return { type: "message", role: "assistant", id, content: [{ type: "output_text", text }] }
  if (kind === "call") return { type: "function_call", call_id: callId, ...codexCall(tool ?? "run", text) }
  const output = kind === "error" ? `Exit code: 1\n${text}` : text
  return { type: "function_call_output", call_id: callId, output }
}

function codexCall(tool: string, text: string): { name: string; arguments: string } {
  if (tool !== "edit") {
    const cmd = tool === "read" ? `sed -n 1,200p ${text}` : text
    return { name: "exec_command", arguments: JSON.stringify({ cmd }) }
  }
  const { file, before, after } = edited(text)
  const patch = `*** Begin Patch\n*** Update File: ${file}\n@@\n-${before}\n+${after}\n*** End Patch`
  return { name: "apply_patch", arguments: JSON.stringify({ input: patch }) }
}
