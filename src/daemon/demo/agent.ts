import { randomUUID } from "node:crypto"
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { textTokens } from "./files.ts"
import { answerOf } from "./stories.ts"

/**
 * Stands in for an agent in the demo: it speaks Claude Code's lines of JSON, keeps a transcript as that does, and gives
 * prepared answers. It runs no command, whatever it asks for.
 */
const VERSION = "2.1.325"
const MODEL = "demo"
const THINK_MS = 900

const after = (name: string) => process.argv[process.argv.indexOf(name) + 1]
const resumed = process.argv.includes("--resume") ? after("--resume") : undefined
const isFork = process.argv.includes("--fork-session")
const sessionId = (isFork || !resumed ? after("--session-id") : resumed) ?? randomUUID()
const cwd = process.cwd()
const claudeDir = join(homedir(), ".claude")
const folder = join(claudeDir, "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"))
const transcript = join(folder, `${sessionId}.jsonl`)
const registry = join(claudeDir, "sessions", `${process.pid}.json`)

interface Decision {
  behavior: string
  message?: string
}
type Line =
  | { type: "control_request"; request_id: string; request: { subtype: string } }
  | { type: "control_response"; response: { request_id: string; response: Decision } }
  | { type: "user"; uuid?: string; message: { content: string } }

const questions = new Map<string, (answer: Decision) => void>()
let lastUuid: string | null = null
let costUsd = 0

mkdirSync(folder, { recursive: true })
mkdirSync(dirname(registry), { recursive: true })
if (isFork && resumed) writeFileSync(transcript, forkedFrom(resumed))
lastUuid = existsSync(transcript)
  ? (/"uuid":"([^"]+)"(?!.*"uuid")/s.exec(readFileSync(transcript, "utf8"))?.[1] ?? null)
  : null
tellStatus("idle")
process.on("exit", () => rmSync(registry, { force: true }))
process.on("SIGTERM", () => process.exit(143))
process.stdout.on("error", () => process.exit(0))

let work: Promise<unknown> = Promise.resolve()
const input = createInterface({ input: process.stdin })
input.on("line", (raw) => {
  const line = JSON.parse(raw) as Line
  if (line.type === "control_request") control(line.request_id, line.request.subtype)
  else if (line.type === "control_response") {
    questions.get(line.response.request_id)?.(line.response.response)
  } else if (line.type === "user") {
    const { uuid = randomUUID(), message } = line
    work = work.then(() => turn(uuid, message.content))
  }
})
input.on("close", () => void work.then(() => process.exit(0)))

async function turn(uuid: string, prompt: string): Promise<void> {
  const startedMs = Date.now()
  tellStatus("busy")
  print({ type: "command_lifecycle", command_uuid: uuid, state: "started" })
  print({ type: "system", subtype: "init", cwd, model: MODEL, claude_code_version: VERSION })
  if (lastUuid === null) title(prompt)
  keep("user", uuid, { role: "user", content: prompt })
  print({ type: "user", message: { role: "user", content: prompt }, uuid, isReplay: true, parent_tool_use_id: null })
  await sleep(THINK_MS)
  const { command, text } = answerOf(basename(cwd), prompt)
  const refused = command === undefined ? undefined : await refusalOf(command)
  const answer = refused === undefined ? text : `I left it undone: ${refused}`
  await say(answer)
  const usage = usageOf(prompt, answer)
  costUsd += 0.004 + answer.length / 40_000
  const counted = { duration_ms: Date.now() - startedMs, num_turns: 1, total_cost_usd: costUsd, usage }
  print({ ...counted, subtype: "success", is_error: false, result: answer, type: "result" })
  print({ type: "command_lifecycle", command_uuid: uuid, state: "completed" })
  tellStatus("idle")
}

/** Why the person does not want it; undefined when it may be done. */
async function refusalOf(command: string): Promise<string | undefined> {
  const id = `toolu_${randomUUID().replaceAll("-", "")}`
  const use = { type: "tool_use", id, name: "Bash", input: { command } }
  assistant(use, command)
  tellStatus("waiting", "permission")
  const request_id = randomUUID()
  const rules = [{ toolName: "Bash", ruleContent: command }]
  const suggestion = { type: "addRules", rules, behavior: "allow", destination: "localSettings" }
  const asked = { subtype: "can_use_tool", tool_name: "Bash", input: { command }, tool_use_id: id }
  const answer = await new Promise<Decision>((resolve) => {
    questions.set(request_id, resolve)
    print({ type: "control_request", request_id, request: { ...asked, permission_suggestions: [suggestion] } })
  })
  tellStatus("busy")
  const isDenied = answer.behavior === "deny"
  const content = isDenied ? (answer.message ?? "denied") : "(the demo runs nothing) done"
  const message = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: isDenied }] }
  keep("user", randomUUID(), message)
  print({ type: "user", message, parent_tool_use_id: null })
  return isDenied ? content : undefined
}

/** What was asked, without the line that says by whom. */
function title(prompt: string): void {
  const aiTitle = prompt.split("\n").findLast((line) => line.trim() !== "")
  appendFileSync(transcript, `${JSON.stringify({ type: "ai-title", aiTitle, sessionId })}\n`, { mode: 0o600 })
}

/** Word by word, so that it can be seen how it comes. */
async function say(text: string): Promise<void> {
  const stream = (event: object) => print({ type: "stream_event", event, parent_tool_use_id: null })
  const id = messageId()
  stream({ type: "message_start", message: { id } })
  for (const piece of text.match(/\S+\s*/g) ?? []) {
    stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } })
    await sleep(12)
  }
  assistant({ type: "text", text }, text, id)
}

const messageId = () => `msg_${randomUUID().replaceAll("-", "")}`

function assistant(block: object, text: string, id = messageId()): void {
  const message = { id, type: "message", role: "assistant", model: MODEL, content: [block] }
  keep("assistant", randomUUID(), { ...message, usage: usageOf("", text) })
  print({ type: "assistant", message, parent_tool_use_id: null })
}

const usageOf = (prompt: string, answer: string) => ({
  input_tokens: textTokens(prompt) + 8,
  cache_creation_input_tokens: 320,
  cache_read_input_tokens: 14_200,
  output_tokens: textTokens(answer) + 20,
})

function keep(type: string, uuid: string, message: object): void {
  const common = { parentUuid: lastUuid, isSidechain: false, userType: "external", entrypoint: "sdk-cli" }
  const record = {
    ...common,
    cwd,
    sessionId,
    version: VERSION,
    timestamp: new Date().toISOString(),
    type,
    uuid,
    message,
  }
  appendFileSync(transcript, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  lastUuid = uuid
}

function forkedFrom(id: string): string {
  const path = join(folder, `${id}.jsonl`)
  return existsSync(path)
    ? readFileSync(path, "utf8").replaceAll(`"sessionId":"${id}"`, `"sessionId":"${sessionId}"`)
    : ""
}

/** As Claude Code tells who runs where. */
function tellStatus(status: string, waitingFor?: string): void {
  const about = { pid: process.pid, sessionId, cwd, kind: "interactive", entrypoint: "sdk-cli", version: VERSION }
  const now = { status, statusUpdatedAt: Date.now(), ...(waitingFor !== undefined && { waitingFor }) }
  writeFileSync(registry, JSON.stringify({ ...about, ...now }), { mode: 0o600 })
}

function control(request_id: string, subtype: string): void {
  const response = subtype === "initialize" ? { commands: [], pid: process.pid } : {}
  print({ type: "control_response", response: { subtype: "success", request_id, response } })
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify({ uuid: randomUUID(), ...line, session_id: sessionId })}\n`)
}
