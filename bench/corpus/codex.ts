import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { zstdCompressSync } from "node:zlib"
import { type CorpusPlatform, conversation, iso, LineFile, put, type Step } from "./session.ts"

/** Legacy and paginated rollouts, some archived, some compressed. */
export const codex: CorpusPlatform = {
  id: "codex",
  share: 25,
  weight: 1.3,
  growth: 1.64,
  write(spec) {
    const { random, homeDir, project, startMs } = spec
    const id = `0198${random.hex(4)}-${random.hex(4)}-7${random.hex(3)}-8${random.hex(3)}-${random.hex(12)}`
    const stamp = iso(startMs).slice(0, 19).replaceAll(":", "-")
    const name = `rollout-${stamp}-${id}.jsonl`
    const day = stamp.slice(0, 10).replaceAll("-", "/")
    const folder = random.chance(0.1) ? "archived_sessions" : join("sessions", day)
    const log = new LineFile(join(homeDir, ".codex", folder, name))
    const isPaginated = random.chance(0.5)
    let [ordinal, endMs, total] = [0, startMs, 0]
    const add = (type: string, payload: object, atMs: number) => {
      log.add({ timestamp: iso(atMs), ...(isPaginated ? { ordinal: ordinal++ } : {}), type, payload })
      endMs = atMs
    }
    const meta = { id, session_id: id, timestamp: iso(startMs), cwd: project, originator: "codex_cli_rs" }
    const more = { cli_version: "0.166.0", source: "cli", model_provider: "openai", git: { branch: "main" } }
    const base_instructions = { text: spec.texts.prose(6_000) }
    const history_mode = isPaginated ? "paginated" : "legacy"
    add("session_meta", { ...meta, ...more, base_instructions, history_mode }, startMs)
    add("turn_context", { cwd: project, model: "gpt-x", approval_policy: "on-request" }, startMs)
    for (const step of conversation(spec, 250)) {
      const event = isPaginated ? completed(step) : told(step)
      if (step.kind === "compaction") add("compacted", { message: step.text, replacement_history: [] }, step.atMs)
      else add("response_item", item(step, random.hex(600)), step.atMs)
      if (event) add("event_msg", event, step.atMs)
      if (step.kind !== "reply") continue
      total += 1_000
      add("event_msg", { type: "token_count", info: { total_token_usage: tokens(total) } }, step.atMs)
    }
    log.close(endMs)
    if (!random.chance(0.05)) return { nativeId: id, bytes: log.bytes, files: 1, endMs }
    const bytes = put(`${log.path}.zst`, zstdCompressSync(readFileSync(log.path)), endMs)
    rmSync(log.path)
    return { nativeId: id, bytes, files: 1, endMs }
  },
}

const tokens = (count: number) => ({ input_tokens: count * 9, cached_input_tokens: count * 8, output_tokens: count })

function item({ kind, text, callId, tool, answerId }: Step, encrypted: string): object {
  if (kind === "prompt") return { type: "message", role: "user", content: [{ type: "input_text", text }] }
  if (kind === "thinking")
    return { type: "reasoning", id: answerId, summary: [{ type: "summary_text", text }], encrypted_content: encrypted }
  if (kind === "call")
    return { type: "function_call", name: tool, arguments: JSON.stringify({ cmd: text }), call_id: callId }
  if (kind === "result") return { type: "function_call_output", call_id: callId, output: text }
  return { type: "message", role: "assistant", id: answerId, content: [{ type: "output_text", text }] }
}

/** Legacy files say once more, as events, what the items say. */
function told({ kind, text }: Step): object | undefined {
  if (kind === "prompt") return { type: "user_message", message: text, images: [] }
  if (kind === "reply") return { type: "agent_message", message: text }
  return kind === "thinking" ? { type: "agent_reasoning", text } : undefined
}

function completed({ kind, text, callId }: Step): object | undefined {
  if (kind !== "result" && kind !== "prompt") return undefined
  const item = kind === "prompt" ? { type: "UserMessage", content: text } : { type: "CommandExecution", id: callId }
  return { type: "item_completed", item: kind === "result" ? { ...item, aggregated_output: text } : item }
}
