import { join } from "node:path"
import { type CorpusPlatform, conversation, iso, LineFile, put, type Step } from "./session.ts"

/** Copilot's command line: one log of events for each session. */
export const copilotCli: CorpusPlatform = {
  id: "copilot-cli",
  share: 3,
  weight: 0.8,
  growth: 1.12,
  write(spec) {
    const { random, homeDir, project, startMs } = spec
    const sessionId = random.uuid()
    const log = new LineFile(join(homeDir, ".copilot/session-state", sessionId, "events.jsonl"))
    let [parentId, endMs]: [string | null, number] = [null, startMs]
    const add = (type: string, data: object, atMs: number) => {
      const id = random.uuid()
      log.add({ id, type, data, timestamp: iso(atMs), parentId })
      parentId = id
      endMs = atMs
    }
    const context = { cwd: project, gitRoot: project, branch: "main" }
    add("session.start", { sessionId, version: 1, copilotVersion: "1.0.14", startTime: iso(startMs), context }, startMs)
    for (const step of conversation(spec, 250)) {
      const { kind, text, callId, tool, atMs } = step
      const arguments_ = { path: text }
      if (kind === "prompt") add("user.message", { content: text, transformedContent: text, attachments: [] }, atMs)
      else if (kind === "thinking" || kind === "reply") add("assistant.message", said(step), atMs)
      else if (kind === "call")
        add(
          "assistant.message",
          {
            messageId: random.uuid(),
            content: "",
            toolRequests: [{ toolCallId: callId, name: tool, arguments: arguments_ }],
          },
          atMs,
        )
      else if (kind === "result")
        add("tool.execution_complete", { toolCallId: callId, success: true, result: { content: text } }, atMs)
      else
        add("session.compaction_complete", { success: true, summaryContent: text, preCompactionTokens: 150_000 }, atMs)
    }
    log.close(endMs)
    return { nativeId: sessionId, bytes: log.bytes, files: 1, endMs }
  },
}

const said = ({ kind, text, answerId }: Step) =>
  kind === "reply" ? { messageId: answerId, content: text } : { messageId: answerId, content: "", reasoningText: text }

/** Copilot in VS Code: a log of changes to one object. */
export const copilotVscode: CorpusPlatform = {
  id: "copilot-vscode",
  share: 2,
  weight: 0.5,
  growth: 1.07,
  write(spec) {
    const { random, homeDir, project, startMs } = spec
    const sessionId = random.uuid()
    const workspace = join(homeDir, ".config/Code/User/workspaceStorage", `w${project.length}${project.slice(-2)}`)
    put(join(workspace, "workspace.json"), JSON.stringify({ folder: `file://${project}` }), startMs)
    const log = new LineFile(join(workspace, "chatSessions", `${sessionId}.jsonl`))
    log.add({ kind: 0, v: { version: 3, sessionId, creationDate: startMs, requests: [] } })
    let [index, parts, endMs] = [-1, 0, startMs]
    for (const { kind, text, atMs } of conversation(spec, 250)) {
      endMs = atMs
      if (kind === "prompt" || index < 0) {
        log.add({
          kind: 2,
          k: ["requests"],
          v: [{ requestId: random.uuid(), timestamp: atMs, message: { text }, response: [] }],
        })
        index++
        parts = 0
      } else {
        const value = kind === "thinking" ? { kind: "thinking", value: text } : { value: text }
        log.add({ kind: 2, k: ["requests", index, "response"], v: [value], i: parts++ })
      }
    }
    log.close(endMs)
    return { nativeId: sessionId, bytes: log.bytes, files: 1, endMs }
  },
}
