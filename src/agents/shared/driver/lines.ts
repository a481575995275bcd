import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { Failure } from "../../../domain/failure.ts"
import { DRIVEN, endLeftBehind } from "./processes.ts"

export interface Launch {
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
  /** One line of JSON that the program printed. Lines that are none are counted, and told of when it is gone. */
  onLine(line: Record<string, unknown>): void
}

/** A program that speaks in lines of JSON, both ways. */
export interface LineProcess {
  pid: number
  send(value: unknown): void
  /** Resolves when the process is gone and its last lines were read, with why in words. */
  readonly gone: Promise<string>
  readonly isGone: boolean
  /** Ends its input; when that is not enough, or it hangs, the process, and what it started. */
  close(options?: { isHanging?: boolean }): Promise<void>
}

const MAX_LINE_BYTES = 256 * 1024 * 1024
const STDERR_CHARS = 4_000
/** How long something it started may hold its output open before it counts as gone. */
const DRAIN_MS = 200
const END_BY_ITSELF_MS = 2_000
const END_WHEN_TOLD_MS = 2_000

export async function startLines({ command, args, cwd, env, onLine }: Launch): Promise<LineProcess> {
  const mark = randomUUID()
  // A group of its own: a Ctrl-C that is meant for us is not meant for it.
  const child = spawn(command, args, { cwd, env: { ...env, [DRIVEN]: mark }, stdio: "pipe", detached: true })
  let stderr = ""
  let garbage = 0
  let isGone = false
  const { promise: gone, resolve: setGone } = Promise.withResolvers<string>()
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const reader = lineReader((line) => {
    const value = parsed(line)
    if (value === undefined) garbage += 1
    else onLine(value)
  })
  child.stdout.on("data", reader)
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr = (stderr + piece).slice(-STDERR_CHARS)
  })
  // Writing to one that just ended is no error of ours: that it is gone is told by `gone`.
  child.stdin.on("error", () => {})
  child.once("exit", async (code, signal) => {
    endLeftBehind(child.pid!, mark)
    await Promise.race([closed, sleep(DRAIN_MS)])
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
      if (!isHanging && (await within(gone, END_BY_ITSELF_MS))) return
      if (!isHanging) child.kill("SIGTERM")
      if (!isHanging && (await within(gone, END_WHEN_TOLD_MS))) return
      child.kill("SIGKILL")
      await gone
    },
  }
}

async function within(gone: Promise<string>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const isGone = await Promise.race([
    gone.then(() => true),
    sleep(ms, false, { signal: timer.signal }).catch(() => false),
  ])
  timer.abort()
  return isGone
}

function notStarted(error: NodeJS.ErrnoException, command: string, cwd: string): Failure {
  if (!existsSync(cwd)) return new Failure("root_not_found", `the folder ${cwd} does not exist`, {}, { cause: error })
  if (error.code === "ENOENT")
    return new Failure("agent_missing", `the program ${command} was not found`, { program: command }, { cause: error })
  return new Failure("agent_failed", `${command} could not be started: ${error.message}`, {}, { cause: error })
}

/** Cuts bytes into lines without joining what has come so far again and again: one line may be many megabytes. */
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
    // What has no end is no line; its tail counts as one that cannot be read.
    if (bytes > MAX_LINE_BYTES) pieces = []
    else pieces.push(chunk.subarray(from))
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}
