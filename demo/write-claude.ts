import { join } from "node:path"
import { type Files, iso, textTokens } from "./files.ts"
import { hexOf, idOf, type Story, type StoryStep } from "./story.ts"

const VERSION = "2.1.325"
const MODEL = "claude-opus-4-5"

/** Writes what Claude Code would have written, and says under which id. */
export function writeClaude(story: Story, dir: string, files: Files, stories: readonly Story[]): string {
  const { name, parent, title } = story
  const folder = join(files.userDir, ".claude/projects", dir.replaceAll(/[^A-Za-z0-9]/g, "-"))
  const sessionId = idOf("claude-code", parent ?? name)
  if (parent !== undefined) {
    const agentId = hexOf(17, name)
    const path = join(folder, sessionId, "subagents", `agent-${agentId}.jsonl`)
    files.lines(path, recordsOf(story, { dir, sessionId, agentId }), endOf(story))
    return `${sessionId}/${agentId}`
  }
  const original = stories.find((other) => other.name === story.fork?.of)
  const copied = original && {
    ...original,
    steps: original.steps.slice(0, story.fork!.steps),
  }
  const forkedFrom = original && { forkedFrom: { sessionId: idOf("claude-code", original.name) } }
  const from = story.clear && { id: idOf("claude-code", story.clear), via: "clear" }
  const records = [
    ...(from ? [{ type: "derived-from", sessionId, sessions: [from] }] : []),
    ...(copied ? recordsOf(copied, { dir, sessionId, ...forkedFrom }) : []),
    ...recordsOf(story, { dir, sessionId, ...forkedFrom }),
    { type: "ai-title", aiTitle: title, sessionId },
  ]
  files.lines(join(folder, `${sessionId}.jsonl`), records, endOf(story))
  return sessionId
}

const endOf = ({ steps }: Story) => steps.at(-1)!.atMs

interface Whose {
  dir: string
  sessionId: string
  agentId?: string
  forkedFrom?: object
}

function recordsOf({ name, steps }: Story, { dir, sessionId, agentId, forkedFrom }: Whose): object[] {
  let parentUuid: string | null = null
  let read = 38_000
  return steps.flatMap((step, index): object[] => {
    const uuid = idOf(name, index)
    const callId = `toolu_${hexOf(24, name, step.kind === "call" ? index : index - 1)}`
    const common = {
      parentUuid,
      isSidechain: agentId !== undefined,
      ...(agentId === undefined ? {} : { agentId }),
      ...(forkedFrom === undefined ? {} : { forkedFrom }),
      userType: "external",
      entrypoint: "cli",
      cwd: dir,
      sessionId,
      version: VERSION,
      gitBranch: "main",
      timestamp: iso(step.atMs),
    }
    parentUuid = uuid
    read += textTokens(step.text) + 1_800
    if (step.kind === "summary") return compacted({ ...common, uuid }, name, index, step)
    const block = blockOf(step, callId)
    const isModels = step.kind === "thinking" || step.kind === "reply" || step.kind === "call"
    if (!isModels) return [{ ...common, type: "user", uuid, message: { role: "user", content: block } }]
    const usage = {
      input_tokens: 8,
      cache_creation_input_tokens: textTokens(step.text) + 1_800,
      cache_read_input_tokens: read,
      output_tokens: textTokens(step.text) * 3 + 120,
    }
    const message = { id: `msg_${hexOf(24, name, index)}`, type: "message", role: "assistant", model: MODEL, usage }
    return [{ ...common, type: "assistant", uuid, message: { ...message, content: [block] } }]
  })
}

function blockOf({ kind, text, tool }: StoryStep, callId: string): unknown {
  if (kind === "thinking") return { type: "thinking", thinking: text, signature: "demo" }
  if (kind === "reply") return { type: "text", text }
  if (kind === "call") return { type: "tool_use", id: callId, ...claudeCall(tool ?? "run", text) }
  if (kind === "prompt") return text
  return [{ type: "tool_result", tool_use_id: callId, content: text, ...(kind === "error" && { is_error: true }) }]
}

function claudeCall(tool: string, text: string): { name: string; input: object } {
  if (tool === "read") return { name: "Read", input: { file_path: text } }
  if (tool === "task") return { name: "Task", input: { description: text, prompt: text, subagent_type: "Explore" } }
  if (tool !== "edit") return { name: "Bash", input: { command: text } }
  const { file, before, after } = edited(text)
  return { name: "Edit", input: { file_path: file, old_string: before, new_string: after } }
}

/** `src/a.ts :: before => after` */
export function edited(text: string): { file: string; before: string; after: string } {
  const [file = "", change = ""] = text.split(" :: ")
  const [before = "", after = ""] = change.split(" => ")
  return { file, before, after }
}

function compacted(
  common: { uuid: string; parentUuid: string | null },
  name: string,
  index: number,
  { text }: StoryStep,
) {
  const { parentUuid: logicalParentUuid, ...rest } = common
  const boundary = {
    ...rest,
    parentUuid: null,
    logicalParentUuid,
    uuid: idOf(name, index, "boundary"),
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    compactMetadata: { trigger: "auto", preTokens: 155_000 },
  }
  const summary = {
    ...common,
    parentUuid: boundary.uuid,
    type: "user",
    isCompactSummary: true,
    message: { role: "user", content: text },
  }
  return [boundary, summary]
}
