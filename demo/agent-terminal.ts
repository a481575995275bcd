import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { basename } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { post } from "../src/daemon/commands/hook.ts"
import { readEnvironment } from "../src/daemon/process/environment.ts"
import { homeAt } from "../src/daemon/process/home.ts"
import { HOOK_ENV, HOOK_PATH, hookHeaders } from "../src/domain/hook.ts"
import { makeInput } from "./agent-input.ts"
import { MODEL, makeRecords, usageOf } from "./agent-records.ts"
import { answerOf } from "./stories.ts"

const THINK_MS = 900
const WORD_MS = 25
const HOOK_MS = 1_500
/** Whoever deletes the demo by hand leaves nobody who could end this. */
const LOOK_MS = 5_000
const MOST_LINES = 200

/** A mock agent in a terminal: Claude Code's input line and the hooks it would run. */
export function sitInTerminal(sessionId: string, source: "startup" | "resume"): void {
  const cwd = process.cwd()
  const records = makeRecords(sessionId, "cli")
  const fire = makeHooks({ session_id: sessionId, transcript_path: records.transcript, cwd })
  const said = ["", ` The demo's mock agent, in ${basename(cwd)}. No model runs here.`, ""]
  const waiting: string[] = []
  let isBusy = true
  let isEnding = false

  const tell = (line: string) => {
    said.push(...line.split("\n"))
    said.splice(0, said.length - MOST_LINES)
    input.draw()
  }
  const become = (status: "idle" | "busy") => {
    isBusy = status === "busy"
    records.tellStatus(status)
    input.draw()
  }
  const end = async (reason: string) => {
    if (isEnding) return
    isEnding = true
    records.end()
    await fire("SessionEnd", { reason })
    input.end()
    process.exit(0)
  }
  const input = makeInput({
    screen: () => ({ said, isBusy }),
    onSubmit: (text) => void (isBusy ? waiting.push(text) : begin(text)),
    onExit: () => void end("prompt_input_exit"),
  })

  const begin = async (first: string) => {
    become("busy")
    for (let prompt: string | undefined = first; prompt !== undefined && !isEnding; prompt = waiting.shift())
      await turn(prompt)
    if (!isEnding) become("idle")
  }

  const turn = async (prompt: string) => {
    const prompt_id = randomUUID()
    await fire("UserPromptSubmit", { prompt_id, prompt })
    if (records.isNew()) records.title(prompt)
    records.keep("user", randomUUID(), { role: "user", content: prompt })
    tell(`❯ ${prompt}`)
    await sleep(THINK_MS)
    const { command, text } = answerOf(basename(cwd), prompt)
    const answer = command === undefined ? text : `I would run \`${command}\` now; the demo runs nothing.`
    tell("● ")
    for (const word of answer.match(/\S+\s*/g) ?? []) {
      said[said.length - 1] += word
      input.draw()
      await sleep(WORD_MS)
    }
    const content = [{ type: "text", text: answer }]
    const message = { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model: MODEL, content }
    records.keep("assistant", randomUUID(), { ...message, stop_reason: "end_turn", usage: usageOf(prompt, answer) })
    await fire("Stop", { prompt_id, stop_hook_active: false, last_assistant_message: answer })
  }

  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, () => void end("other"))
  process.stdin.on("close", () => void end("other"))
  setInterval(() => existsSync(cwd) || process.exit(0), LOOK_MS).unref()
  input.begin()
  void fire("SessionStart", { source }).then(() => isEnding || become("idle"))
}

/** Said to the daemon directly; without one there is nobody to tell. */
function makeHooks(common: { session_id: string; transcript_path: string; cwd: string }) {
  const { home, tempDir, machine } = readEnvironment()
  const { socket } = homeAt(home, tempDir)
  const own = { CLAUDE_PID: String(process.pid), CLAUDE_PROJECT_DIR: common.cwd, CLAUDE_CODE_ENTRYPOINT: "cli" }
  const known: Record<string, string | undefined> = { ...machine.env, ...own }
  const set = HOOK_ENV.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]] as const]))
  const env = { PPID: String(process.pid), ...Object.fromEntries(set) }
  return (event: string, more: object) => {
    const headers = hookHeaders({ key: randomUUID(), atNs: BigInt(Date.now()) * 1_000_000n, env })
    const body = JSON.stringify({ ...common, ...more, hook_event_name: event })
    return post(socket, `${HOOK_PATH}/claude-code`, { headers, body, maxMs: HOOK_MS })
  }
}
