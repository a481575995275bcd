import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import type { Socket } from "node:net"
import { Failure } from "../../domain/failure.ts"
import { after } from "../../lib/clock.ts"

export interface TmuxTool {
  /** Its whole environment. */
  env: Record<string, string | undefined>
  program?: string
  /** How long one command may take. */
  maxMs?: number
}

export interface TmuxResult {
  code: number
  stdout: string
  stderr: string
}

/**
 * Runs tmux commands one at a time per server, from a shell that stays for a while: forking the daemon takes ten times
 * as long as forking a shell.
 */
export function makeTmuxRunner(
  tool: TmuxTool,
): (socket: string, args: string[], stdin?: string) => Promise<TmuxResult> {
  const shells = new Map<string, Shell>()
  return (socket, args, stdin = "") => {
    let shell = shells.get(socket)
    if (!shell) {
      shell = makeShell(tool, () => shells.delete(socket))
      shells.set(socket, shell)
    }
    return shell(["-u", "-S", socket, ...args], stdin)
  }
}

type Shell = (args: string[], stdin: string) => Promise<TmuxResult>

interface Job {
  script: string
  command: string
  resolve(ran: TmuxResult): void
  reject(failure: Failure): void
}

const MAX_MS = 10_000
const IDLE_MS = 30_000
const [NOT_RUN, NOT_FOUND] = [126, 127]

function makeShell({ env, program = "tmux", maxMs = MAX_MS }: TmuxTool, onEnd: () => void): Shell {
  const token = randomUUID()
  const waiting: Job[] = []
  // A process group of its own: a hanging command is killed with its children.
  const child = spawn("/bin/sh", [], { env: { ...env, TMUX: undefined }, stdio: "pipe", detached: true })
  const streams = [child.stdin, child.stdout, child.stderr] as unknown as Socket[]
  let [out, err] = [Buffer.alloc(0), Buffer.alloc(0)]
  let job: Job | undefined
  let isOver = false
  let cancelEnd = () => {}

  const hold = (isHeld: boolean) => {
    for (const one of [child, ...streams]) isHeld ? one.ref() : one.unref()
  }
  const end = (failure: Failure, isGone = false) => {
    if (isOver) return
    isOver = true
    onEnd()
    cancelEnd()
    for (const one of [...(job ? [job] : []), ...waiting.splice(0)]) one.reject(failure)
    job = undefined
    hold(false)
    if (!isGone) endGroup(child)
  }
  const next = () => {
    cancelEnd()
    job = waiting.shift()
    hold(job !== undefined)
    if (job === undefined) {
      cancelEnd = after(IDLE_MS, () => end(failing("tmux is not needed any more")), { ref: false })
      return
    }
    const { command } = job
    child.stdin.write(job.script)
    cancelEnd = after(maxMs, () => end(failing(`tmux did not answer within ${maxMs} ms`, { command })))
  }
  const read = () => {
    const stdout = before(out, `\n${token} `)
    const stderr = before(err, `\n${token}\n`)
    if (!job || !stdout || !stderr) return
    const code = out.subarray(stdout.length + token.length + 2).toString()
    // May be incomplete.
    if (!code.endsWith("\n")) return
    const { resolve, reject } = job
    const ran = { code: Number(code), stdout: stdout.toString(), stderr: stderr.toString() }
    ;[out, err] = [Buffer.alloc(0), Buffer.alloc(0)]
    if (ran.code === NOT_FOUND)
      reject(new Failure("dependency_missing", "tmux is not installed, or not on the daemon's PATH"))
    else if (ran.code === NOT_RUN) reject(failing(`tmux could not be run: ${ran.stderr.trim()}`))
    else resolve(ran)
    next()
  }
  child.stdout.on("data", (chunk: Buffer) => {
    out = Buffer.concat([out, chunk])
    read()
  })
  child.stderr.on("data", (chunk: Buffer) => {
    err = Buffer.concat([err, chunk])
    read()
  })
  child.stdin.on("error", () => {})
  child.on("error", ({ message }) => end(failing(`tmux could not be run: ${message}`), true))
  child.on("close", () => end(failing("tmux could not be run: its shell has ended"), true))

  return (args, stdin) =>
    new Promise((resolve, reject) => {
      const words = [program, ...args].map(quoted).join(" ")
      const input = stdin === "" ? `${words} </dev/null` : `printf %s ${quoted(stdin)} | ${words}`
      const script = `${input}\nprintf '\\n%s %s\\n' ${token} $?; printf '\\n%s\\n' ${token} >&2\n`
      waiting.push({ script, command: args[3] ?? "", resolve, reject })
      if (!job) next()
    })
}

/** Quoted for a shell. */
const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

const failing = (message: string, details: Record<string, string> = {}) =>
  new Failure("terminal_failing", message, details)

function before(all: Buffer, mark: string): Buffer | undefined {
  const at = all.indexOf(mark)
  return at < 0 ? undefined : all.subarray(0, at)
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL")
  } catch {
    // It has ended already.
  }
}
