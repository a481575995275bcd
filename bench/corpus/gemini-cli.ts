import { join } from "node:path"
import { type CorpusPlatform, conversation, iso, LineFile, put, type Step } from "./session.ts"

/** A log of operations: messages grow by being repeated, and some are rewound. */
export const geminiCli: CorpusPlatform = {
  id: "gemini-cli",
  share: 8,
  weight: 0.6,
  growth: 1.43,
  write(spec) {
    const { random, homeDir, project, startMs } = spec
    const sessionId = random.uuid()
    const folder = join(homeDir, ".gemini/tmp", project.slice(1).replaceAll("/", "-"))
    put(join(folder, ".project_root"), project, startMs)
    const stamp = iso(startMs).slice(0, 16).replaceAll(":", "-")
    const log = new LineFile(join(folder, "chats", `session-${stamp}-${sessionId.slice(0, 8)}.jsonl`))
    const [startTime, projectHash] = [iso(startMs), random.hex(64)]
    log.add({ sessionId, projectHash, startTime, lastUpdated: startTime, kind: "main" })
    let endMs = startMs
    let answer: Answer | undefined
    for (const step of conversation(spec, 400)) {
      endMs = step.atMs
      if (answer && answer.id !== step.answerId) answer = undefined
      if (step.kind === "prompt") {
        const id = random.uuid()
        log.add({ id, timestamp: iso(endMs), type: "user", content: [{ text: step.text }] })
        if (random.chance(0.01)) log.add({ $rewindTo: id })
      } else if (step.kind === "compaction") log.add({ $set: { summary: step.text.slice(0, 80).trim() } })
      else {
        answer = grown(answer, step)
        log.add(answer)
        log.add({ $set: { lastUpdated: iso(endMs) } })
      }
    }
    log.close(endMs)
    return { nativeId: sessionId, bytes: log.bytes, files: 1, endMs }
  },
}

interface Answer {
  id: string
  timestamp: string
  type: "gemini"
  content: { text: string }[]
  thoughts: object[]
  toolCalls: { id: string; name: string; args: object; status: string; timestamp: string; result?: object[] }[]
  tokens: object
  model: string
}

function grown(before: Answer | undefined, { kind, text, atMs, callId, tool, answerId }: Step): Answer {
  const timestamp = iso(atMs)
  const answer: Answer = before ?? {
    id: answerId,
    timestamp,
    type: "gemini",
    content: [],
    thoughts: [],
    toolCalls: [],
    tokens: { input: 900, output: 40, cached: 800, thoughts: 10, tool: 0, total: 950 },
    model: "gemini-x",
  }
  if (kind === "thinking")
    return { ...answer, thoughts: [...answer.thoughts, { subject: "Looking", description: text, timestamp }] }
  if (kind === "reply") return { ...answer, content: [{ text }] }
  const call = { id: callId, name: tool, args: { path: text }, status: "executing", timestamp }
  if (kind === "call") return { ...answer, toolCalls: [...answer.toolCalls, call] }
  const result = [{ functionResponse: { id: callId, name: tool, response: { output: text } } }]
  const ended = answer.toolCalls.map((asked) => (asked.id === callId ? { ...asked, status: "success", result } : asked))
  return { ...answer, toolCalls: ended }
}
