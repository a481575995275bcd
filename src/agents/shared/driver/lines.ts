import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { Failure } from "../../../domain/failure.ts"
import { within } from "../../../lib/clock.ts"
import { jsonIn } from "../records/jsonl.ts"
import { DRIVEN, endLeftBehind } from "./processes.ts"

export interface Launch {
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
  /** One JSON line of the program's output. Other lines are counted and reported when it exits. */
  onLine(line: Record<string, unknown>): void
}

/** A program that reads and writes JSON lines. */
export interface LineProcess {
  pid: number
  send(value: unknown): void
  /** Resolves with the reason when the process is gone and its last lines are read. */
  readonly gone: Promise<string>
  readonly isGone: boolean
  /** Ends its input; if that is not enough, or it hangs, kills the process and its children. */
  close(options?: { isHanging?: boolean }): Promise<void>
}

const MAX_LINE_BYTES = 256 * 1024 * 1024
const STDERR_CHARS = 4_000
/** How long a child process may hold its output open before it counts as gone. */
const DRAIN_MS = 200
const END_OF_INPUT_MS = 2_000
const TERMINATE_MS = 2_000

export async function startLines({ command, args, cwd, env, onLine }: Launch): Promise<LineProcess> {
  const mark = randomUUID()
  // Its own process group: a Ctrl-C for us must not reach it.
  const child = spawn(command, args, { cwd, env: { ...env, [DRIVEN]: mark }, stdio: "pipe", detached: true })
  let stderr = ""
  let garbage = 0
  let isGone = false
  const { promise: gone, resolve: setGone } = Promise.withResolvers<string>()
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const reader = lineReader((line) => {
    const value = jsonIn(line)
    if (value === undefined) garbage += 1
    else onLine(value)
  })
  child.stdout.on("data", reader)
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr = (stderr + piece).slice(-STDERR_CHARS)
  })
  // Writing to an ended process is no error: `gone` reports it.
  child.stdin.on("error", () => {})
  child.once("exit", async (code, signal) => {
    endLeftBehind(child.pid!, mark)
    await within(DRAIN_MS, closed)
    isGone = true
    const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`
    const noise = garbage === 0 ? "" : ` (${garbage} lines of its output were no JSON)`
    setGone([`the agent's process ${how}${noise}`, stderr.trim()].filter((part) => part !== "").join(": "))
  })
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve)
    child.once("error", (error) => reject(notStarted(error, command, cwd)))
  })
  const pid = child.pid!

  return {
    pid,
    send(value) {
      if (!isGone && child.stdin.writable) child.stdin.write(`${JSON.stringify(value)}\n`)
    },
    gone,
    get isGone() {
      return isGone
    },
    async close({ isHanging = false } = {}) {
      child.stdin.end()
      if (!isHanging && (await within(END_OF_INPUT_MS, gone)) !== undefined) return
      if (!isHanging) child.kill("SIGTERM")
      if (!isHanging && (await within(TERMINATE_MS, gone)) !== undefined) return
      child.kill("SIGKILL")
      await gone
    },
  }
}

function notStarted(error: NodeJS.ErrnoException, command: string, cwd: string): Failure {
  if (!existsSync(cwd)) return new Failure("root_not_found", `the folder ${cwd} does not exist`, {}, { cause: error })
  if (error.code === "ENOENT")
    return new Failure("agent_missing", `the program ${command} was not found`, { program: command }, { cause: error })
  return new Failure("agent_failed", `${command} could not be started: ${error.message}`, {}, { cause: error })
}

/** Splits bytes into lines without repeated concatenation: one line may have many megabytes. */
function lineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = []
  let bytes = 0
  return (chunk) => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end))
      const line = Buffer.concat(pieces).toString("utf8").trim()
      pieces = []
      bytes = 0
      from = end + 1
      if (line !== "") onLine(line)
    }
    if (from === chunk.length) return
    bytes += chunk.length - from
    // Drop an endless line; its tail counts as unreadable.
    if (bytes > MAX_LINE_BYTES) pieces = []
    else pieces.push(chunk.subarray(from))
  }
}
