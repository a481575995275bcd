import { randomUUID } from "node:crypto"
import { basename } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { MODEL, makeRecords, usageOf, VERSION } from "./agent-records.ts"
import { answerOf } from "./stories.ts"

const THINK_MS = 900
const WORD_MS = 12

interface Decision {
  behavior: string
  message?: string
}
type Line =
  | { type: "control_request"; request_id: string; request: { subtype: string } }
  | { type: "control_response"; response: { request_id: string; response: Decision } }
  | { type: "user"; uuid?: string; message: { content: string } }

/** A mock agent for the driver: Claude Code's JSON lines on stdin and stdout. */
export function speakLines(sessionId: string, forkOf: string | undefined): void {
  const records = makeRecords(sessionId, "sdk-cli")
  if (forkOf !== undefined) records.forkFrom(forkOf)
  const questions = new Map<string, (answer: Decision) => void>()
  let costUsd = 0
  records.tellStatus("idle")
  process.on("exit", records.end)
  process.on("SIGTERM", () => process.exit(143))
  process.stdout.on("error", () => process.exit(0))

  const print = (line: object) =>
    process.stdout.write(`${JSON.stringify({ uuid: randomUUID(), ...line, session_id: sessionId })}\n`)

  const control = (request_id: string, subtype: string) => {
    const response = subtype === "initialize" ? { commands: [], pid: process.pid } : {}
    print({ type: "control_response", response: { subtype: "success", request_id, response } })
  }

  const assistant = (block: object, text: string, id = messageId()) => {
    const message = { id, type: "message", role: "assistant", model: MODEL, content: [block] }
    records.keep("assistant", randomUUID(), { ...message, usage: usageOf("", text) })
    print({ type: "assistant", message, parent_tool_use_id: null })
  }

  /** Word by word, so that it can be seen how it comes. */
  const say = async (text: string) => {
    const stream = (event: object) => print({ type: "stream_event", event, parent_tool_use_id: null })
    const id = messageId()
    stream({ type: "message_start", message: { id } })
    for (const piece of text.match(/\S+\s*/g) ?? []) {
      stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } })
      await sleep(WORD_MS)
    }
    assistant({ type: "text", text }, text, id)
  }

  /** Why the person does not want it; undefined when it may be done. */
  const refusalOf = async (command: string): Promise<string | undefined> => {
    const id = `toolu_${randomUUID().replaceAll("-", "")}`
    const use = { type: "tool_use", id, name: "Bash", input: { command } }
    assistant(use, command)
    records.tellStatus("waiting", "permission")
    const request_id = randomUUID()
    const rules = [{ toolName: "Bash", ruleContent: command }]
    const suggestion = { type: "addRules", rules, behavior: "allow", destination: "localSettings" }
    const asked = { subtype: "can_use_tool", tool_name: "Bash", input: { command }, tool_use_id: id }
    const answer = await new Promise<Decision>((resolve) => {
      questions.set(request_id, resolve)
      print({ type: "control_request", request_id, request: { ...asked, permission_suggestions: [suggestion] } })
    })
    records.tellStatus("busy")
    const isDenied = answer.behavior === "deny"
    const content = isDenied ? (answer.message ?? "denied") : "(the demo runs nothing) done"
    const message = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: isDenied }] }
    records.keep("user", randomUUID(), message)
    print({ type: "user", message, parent_tool_use_id: null })
    return isDenied ? content : undefined
  }

  const turn = async (uuid: string, prompt: string) => {
    const startedMs = Date.now()
    records.tellStatus("busy")
    print({ type: "command_lifecycle", command_uuid: uuid, state: "started" })
    print({ type: "system", subtype: "init", cwd: process.cwd(), model: MODEL, claude_code_version: VERSION })
    if (records.isNew()) records.title(prompt)
    records.keep("user", uuid, { role: "user", content: prompt })
    print({ type: "user", message: { role: "user", content: prompt }, uuid, isReplay: true, parent_tool_use_id: null })
    await sleep(THINK_MS)
    const { command, text } = answerOf(basename(process.cwd()), prompt)
    const refused = command === undefined ? undefined : await refusalOf(command)
    const answer = refused === undefined ? text : `I left it undone: ${refused}`
    await say(answer)
    const usage = usageOf(prompt, answer)
    costUsd += 0.004 + answer.length / 40_000
    const counted = { duration_ms: Date.now() - startedMs, num_turns: 1, total_cost_usd: costUsd, usage }
    print({ ...counted, subtype: "success", is_error: false, result: answer, type: "result" })
    print({ type: "command_lifecycle", command_uuid: uuid, state: "completed" })
    records.tellStatus("idle")
  }

  let work: Promise<unknown> = Promise.resolve()
  const take = (raw: string) => {
    const line = JSON.parse(raw) as Line
    if (line.type === "control_request") control(line.request_id, line.request.subtype)
    else if (line.type === "control_response") {
      questions.get(line.response.request_id)?.(line.response.response)
    } else if (line.type === "user") {
      const { uuid = randomUUID(), message } = line
      work = work.then(() => turn(uuid, message.content))
    }
  }
  let begun = ""
  process.stdin.setEncoding("utf8")
  // Not by readline: it takes signs inside of a text, such as U+2028, for the end of a line.
  process.stdin.on("data", (chunk: string) => {
    const lines = `${begun}${chunk}`.split("\n")
    begun = lines.pop()!
    for (const line of lines) if (line !== "") take(line)
  })
  process.stdin.on("close", () => void work.then(() => process.exit(0)))
}

const messageId = () => `msg_${randomUUID().replaceAll("-", "")}`
