import { appendFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { type CorpusPlatform, conversation, iso, LineFile, put, type SessionSpec, type Step } from "./session.ts"

/** As 2.1.325 writes it, and for some sessions as older versions did. */
export const claudeCode: CorpusPlatform = {
  id: "claude-code",
  share: 45,
  weight: 1,
  growth: 1.22,
  write(spec) {
    const { random, homeDir, project, startMs } = spec
    const sessionId = random.uuid()
    const folder = join(homeDir, ".claude/projects", project.replaceAll(/[^A-Za-z0-9]/g, "-"))
    const withAgent = random.chance(0.15) && spec.bytes > 50_000
    const isNew = random.chance(0.4) && spec.bytes > 200_000
    const main = { ...spec, bytes: spec.bytes * (withAgent ? 0.7 : 1) - (isNew ? 130_000 : 0) }
    const log = new LineFile(join(folder, `${sessionId}.jsonl`))
    if (isNew) requests(log, spec, sessionId)
    const endMs = writeTranscript(log, main, { sessionId, isNew })
    log.add({ type: "ai-title", aiTitle: spec.texts.title(), sessionId })
    log.close(endMs)
    let [bytes, files] = [log.bytes, 1]
    if (withAgent) {
      const agentId = random.hex(17)
      const agent = new LineFile(join(folder, sessionId, "subagents", `agent-${agentId}.jsonl`))
      writeTranscript(agent, { ...spec, bytes: spec.bytes * 0.3 }, { sessionId, isNew, agentId })
      agent.close(endMs)
      bytes += agent.bytes
      files++
    }
    if (random.chance(0.05)) {
      const output = spec.texts.output(random.size(70_000, 0.3))
      bytes += put(join(folder, sessionId, "tool-results", `toolu_${random.hex(24)}.txt`), output, endMs)
      files++
    }
    return { nativeId: sessionId, bytes, files, endMs: Math.max(endMs, startMs) }
  },
}

/** The system prompt and the schemas of all tools: most of a short session's bytes. */
function requests(log: LineFile, { texts }: SessionSpec, sessionId: string): void {
  const tools = Array.from({ length: 20 }, (_, index) => ({
    name: `tool_${index}`,
    description: texts.prose(2_000),
    input_schema: { type: "object", properties: { path: { type: "string", description: texts.prose(200) } } },
  }))
  log.add({ type: "api-request-shape", sessionId, hash: "0c1d", body: { model: "claude-x", tools } })
  log.add({ type: "api-request-blob", sessionId, hash: "5e2f", body: { system: texts.prose(80_000) } })
}

interface Origin {
  sessionId: string
  isNew: boolean
  agentId?: string
}

function writeTranscript(log: LineFile, spec: SessionSpec, { sessionId, isNew, agentId }: Origin): number {
  const { random, project, homeDir } = spec
  let [parentUuid, endMs]: [string | null, number] = [null, spec.startMs]
  const common = (step: Step) => {
    const uuid = random.uuid()
    const fields = {
      parentUuid,
      isSidechain: agentId !== undefined,
      ...(agentId === undefined ? {} : { agentId }),
      userType: "external",
      cwd: project,
      sessionId,
      version: isNew ? "2.1.325" : "2.0.14",
      gitBranch: "main",
      uuid,
      timestamp: iso(step.atMs),
    }
    parentUuid = uuid
    endMs = step.atMs
    return fields
  }
  const user = (step: Step, content: unknown, more: object = {}) =>
    log.add({ ...common(step), type: "user", message: { role: "user", content }, ...more })
  const assistant = (step: Step, block: object) =>
    log.add({
      ...common(step),
      message: { id: step.answerId, type: "message", role: "assistant", model: "claude-x", content: [block], usage },
      requestId: `req_${random.hex(24)}`,
      type: "assistant",
    })
  if (isNew) {
    log.add({ type: "mode", mode: "default", sessionId })
    log.add({ type: "file-history-snapshot", messageId: random.uuid(), snapshot: {}, isSnapshotUpdate: false })
  }
  for (const step of conversation(spec, 500)) {
    const { kind, text, callId } = step
    if (kind === "prompt") {
      user(step, text)
      if (agentId === undefined && random.chance(0.5)) typed(homeDir, text, step.atMs, project, sessionId)
    } else if (kind === "thinking") assistant(step, { type: "thinking", thinking: text, signature: random.hex(200) })
    else if (kind === "reply") assistant(step, { type: "text", text })
    else if (kind === "call") assistant(step, { type: "tool_use", id: callId, name: step.tool, input: inputOf(step) })
    else if (kind === "result") {
      // The client's own form of the answer is stored beside the model's, and repeats some of it.
      const toolUseResult = { stdout: text.slice(0, 400), stderr: "", interrupted: false }
      user(step, [{ tool_use_id: callId, type: "tool_result", content: text }], { toolUseResult })
    } else compacted(log, common(step), () => user(step, text, { isCompactSummary: true }))
  }
  return endMs
}

const usage = {
  input_tokens: 9,
  cache_creation_input_tokens: 1200,
  cache_read_input_tokens: 50_000,
  output_tokens: 240,
  service_tier: "standard",
}

function inputOf({ tool, text }: Step): object {
  if (tool === "Edit") return { file_path: "/w/app/a.ts", old_string: text.slice(0, 200), new_string: text }
  return tool === "Bash" ? { command: text, description: "Run it" } : { file_path: text }
}

function compacted(log: LineFile, { parentUuid, ...fields }: { parentUuid: string | null }, then: () => void): void {
  const compactMetadata = { trigger: "auto", preTokens: 150_000 }
  log.add({
    ...fields,
    parentUuid: null,
    logicalParentUuid: parentUuid,
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    compactMetadata,
  })
  then()
}

/** Every prompt that was typed is in one file too. */
function typed(homeDir: string, display: string, timestamp: number, project: string, sessionId: string): void {
  mkdirSync(join(homeDir, ".claude"), { recursive: true })
  const record = { display, pastedContents: {}, timestamp, project, sessionId }
  appendFileSync(join(homeDir, ".claude/history.jsonl"), `${JSON.stringify(record)}\n`)
}
