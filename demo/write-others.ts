import { join } from "node:path"
import { type Files, iso, textTokens } from "./files.ts"
import { hexOf, idOf, type Story, type StoryStep } from "./story.ts"
import { edited } from "./write-claude.ts"

/** Gemini CLI's log of operations. */
export function writeGemini(story: Story, dir: string, files: Files): string {
  const { name, steps, startMs, title } = story
  const sessionId = idOf("gemini-cli", name)
  const folder = join(files.userDir, ".gemini/tmp", dir.slice(1).replaceAll("/", "-"))
  files.text(join(folder, ".project_root"), dir, startMs)
  const stamp = iso(startMs).slice(0, 16).replaceAll(":", "-")
  const head = { sessionId, projectHash: hexOf(32, dir), startTime: iso(startMs), lastUpdated: iso(startMs) }
  const records: object[] = [{ ...head, kind: "main" }]
  for (const { said, at } of answersOf(steps)) {
    const id = idOf(name, at)
    const [first] = said
    if (first?.kind === "prompt")
      records.push({ id, timestamp: iso(first.atMs), type: "user", content: [{ text: first.text }] })
    else records.push({ id, ...geminiAnswer(said, name, at) })
  }
  records.push({ $set: { summary: title } })
  const path = join(folder, "chats", `session-${stamp}-${sessionId.slice(0, 8)}.jsonl`)
  files.lines(path, records, steps.at(-1)!.atMs)
  return sessionId
}

function geminiAnswer(said: StoryStep[], name: string, at: number): object {
  const timestamp = iso(said[0]!.atMs)
  const texts = (kind: StoryStep["kind"]) => said.filter((step) => step.kind === kind).map(({ text }) => text)
  const calls = said.flatMap((step, index) => {
    if (step.kind !== "call") return []
    const { tool, input } = callOf(step, { run: "run_shell_command", read: "read_file", edit: "replace" })
    const [id, answer] = [`${tool}-${hexOf(8, name, at, index)}`, said[index + 1]]
    const output = { output: answer?.text ?? "" }
    const result = [{ functionResponse: { id, name: tool, response: output } }]
    const status = answer?.kind === "error" ? "error" : "success"
    return [{ id, name: tool, args: input, status, timestamp: iso(step.atMs), result }]
  })
  const written = textTokens(said.map(({ text }) => text).join(""))
  return {
    timestamp,
    type: "gemini",
    content: [{ text: texts("reply").join("\n\n") }],
    thoughts: texts("thinking").map((description) => ({ subject: "Looking", description, timestamp })),
    toolCalls: calls,
    tokens: { input: 41_000 + written * 30, output: written * 3, cached: 34_000, thoughts: 40, tool: 0, total: 0 },
    model: "gemini-3-pro",
  }
}

const INPUT = 6_400

/** opencode as it kept its sessions before it had a database: each row a file. */
export function writeOpencode(story: Story, dir: string, files: Files): string {
  const { name, steps, startMs, title } = story
  const [id, endMs] = [`ses_${hexOf(26, name)}`, steps.at(-1)!.atMs]
  const storage = join(files.userDir, ".local/share/opencode/storage")
  const about = { id, version: "1.0.110", projectID: "global", directory: dir, title }
  for (const { said, at } of answersOf(steps)) {
    const messageID = `msg_${String(at).padStart(6, "0")}${hexOf(12, name)}`
    const [created, role] = [said[0]!.atMs, said[0]!.kind === "prompt" ? "user" : "assistant"]
    const output = textTokens(said.map(({ text }) => text).join(""))
    const tokens = { input: INPUT, output, reasoning: 0, cache: { read: 48_000 + output * 90, write: 0 } }
    const cost = Math.round((INPUT * 3 + output * 15 + tokens.cache.read * 0.3) / 100) / 10_000
    const answer = { modelID: "claude-sonnet-4-5", providerID: "anthropic", cost, tokens }
    const time = { created, ...(role === "assistant" && { completed: said.at(-1)!.atMs }) }
    const data = { id: messageID, sessionID: id, role, time, ...(role === "assistant" && answer) }
    files.json(join(storage, "message", id, `${messageID}.json`), data, created)
    for (const [index, part] of partsOf(said, `${name} ${at}`).entries()) {
      const partID = `prt_${String(at * 100 + index).padStart(8, "0")}${hexOf(10, name)}`
      const whole = { id: partID, sessionID: id, messageID, ...part }
      files.json(join(storage, "part", messageID, `${partID}.json`), whole, created)
    }
  }
  // Last: a session that is found is whole.
  const path = join(storage, "session", "global", `${id}.json`)
  files.json(path, { ...about, time: { created: startMs, updated: endMs } }, endMs)
  return id
}

function partsOf(said: StoryStep[], name: string): object[] {
  return said.flatMap((step, index): object[] => {
    const { kind, text, atMs } = step
    const time = { start: atMs, end: said[index + 1]?.atMs ?? atMs }
    if (kind === "thinking") return [{ type: "reasoning", text, time }]
    if (kind === "prompt" || kind === "reply") return [{ type: "text", text, time }]
    if (kind !== "call") return []
    const { tool, input } = callOf(step, { run: "bash", read: "read", edit: "edit" })
    const answer = said[index + 1]
    const outcome = answer?.kind === "error" ? { error: answer.text } : { output: answer?.text ?? "" }
    const status = answer?.kind === "error" ? "error" : "completed"
    const state = { status, input, title: tool, metadata: {}, time, ...outcome }
    return [{ type: "tool", callID: `call_${hexOf(16, name, index)}`, tool, state }]
  })
}

/** Aider keeps one file per project; sessions follow each other in it, in the local time. */
export function writeAider(stories: readonly Story[], dir: string, files: Files): void {
  const text = stories.map(({ startMs, steps }) => {
    const local = new Date(startMs - new Date(startMs).getTimezoneOffset() * 60_000)
    const head = `\n# aider chat started at ${local.toISOString().slice(0, 19).replace("T", " ")}\n\n`
    const banner =
      "> Aider v0.86.1  \n> Main model: gpt-5 with diff edit format  \n> Git repo: .git with 84 files  \n\n"
    return head + banner + steps.map(aiderText).join("\n\n")
  })
  const endMs = Math.max(...stories.map(({ steps }) => steps.at(-1)!.atMs))
  files.text(join(dir, ".aider.chat.history.md"), `${text.join("\n")}\n`, endMs)
}

function aiderText({ kind, text, tool }: StoryStep): string {
  const each = (before: string) => text.replaceAll(/^/gm, before).replaceAll(/$/gm, "  ")
  if (kind === "prompt") return each("#### ")
  if (kind !== "call") return kind === "reply" || kind === "thinking" ? text : each("> ")
  return tool === "edit"
    ? `> Applied edit to ${edited(text).file}  `
    : `> ${tool === "run" ? "Ran" : "Added"} ${text}  `
}

/** What is said in one go: a prompt, or everything up to the next one. */
function answersOf(steps: readonly StoryStep[]): { said: StoryStep[]; at: number }[] {
  const groups: { said: StoryStep[]; at: number }[] = []
  for (const [at, step] of steps.entries()) {
    const last = groups.at(-1)
    if (!last || step.kind === "prompt" || last.said[0]!.kind === "prompt") groups.push({ said: [step], at })
    else last.said.push(step)
  }
  return groups
}

function callOf({ tool = "run", text }: StoryStep, names: Record<string, string>): { tool: string; input: object } {
  if (tool === "read") return { tool: names.read!, input: { filePath: text } }
  if (tool !== "edit") return { tool: names.run!, input: { command: text } }
  const { file, before, after } = edited(text)
  return { tool: names.edit!, input: { filePath: file, oldString: before, newString: after } }
}
