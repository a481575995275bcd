import { join } from "node:path"
import { type CorpusPlatform, conversation, iso, put, type Step } from "./session.ts"

/** The SDK's store: one file of messages for each session, rewritten at every save. */
export const cline: CorpusPlatform = {
  id: "cline",
  share: 5,
  weight: 0.5,
  growth: 1.15,
  write(spec) {
    const { random, homeDir, project, startMs } = spec
    const id = `${startMs}_${random.hex(6)}`
    const folder = join(homeDir, ".cline/data/sessions", id)
    const steps = [...conversation(spec, 150)]
    const endMs = steps.at(-1)?.atMs ?? startMs
    const prompt = steps[0]?.text.slice(0, 80) ?? ""
    const bytes = put(join(folder, `${id}.messages.json`), clineMessages(id, steps), endMs)
    const manifest = clineManifest(id, project, prompt, startMs, join(folder, `${id}.messages.json`))
    return { nativeId: id, bytes: bytes + put(join(folder, `${id}.json`), manifest, endMs), files: 2, endMs }
  },
}

export function clineManifest(id: string, cwd: string, prompt: string, startMs: number, messagesPath: string): string {
  return JSON.stringify(
    {
      version: 1,
      session_id: id,
      source: "cli",
      pid: 4242,
      started_at: iso(startMs),
      status: "idle",
      provider: "anthropic",
      model: "claude-x",
      cwd,
      workspace_root: cwd,
      prompt,
      metadata: { title: prompt },
      messages_path: messagesPath,
    },
    null,
    2,
  )
}

export function clineMessages(sessionId: string, steps: readonly Step[]): string {
  const messages = steps.map(({ kind, text, atMs, callId, tool }, index) => ({
    id: `${sessionId}-${index}`,
    role: kind === "prompt" || kind === "result" ? "user" : "assistant",
    ts: atMs,
    content: [blockOf(kind, text, callId, tool)],
    ...(kind === "reply" ? { modelInfo: { id: "claude-x", provider: "anthropic" } } : {}),
  }))
  return JSON.stringify({ version: 1, updated_at: iso(steps.at(-1)?.atMs ?? 0), agent: "main", sessionId, messages })
}

function blockOf(kind: Step["kind"], text: string, callId: string, tool: string): object {
  if (kind === "thinking") return { type: "thinking", thinking: text, signature: "s" }
  if (kind === "call") return { type: "tool_use", id: callId, name: tool, input: { path: text } }
  if (kind === "result") return { type: "tool_result", tool_use_id: callId, name: tool, content: text, is_error: false }
  return { type: "text", text: kind === "prompt" ? `<user_input mode="act">${text}</user_input>` : text }
}
