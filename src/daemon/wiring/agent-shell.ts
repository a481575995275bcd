import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { AGENT_PROGRAMS } from "../../agents/shared/shells.ts"
import { Failure } from "../../domain/failure.ts"
import { agentOf, type Environment } from "../process/environment.ts"
import { parentOf, processTable } from "../process/process-identity.ts"

/** Interpreters; the first argument that is not an option is the script. */
const INTERPRETER = /^(?:node|nodejs|bun|deno|python\d*(?:\.\d+)?|sh|bash|zsh|dash)$/
/** Interpreter options that take a separate value. */
const WITH_VALUE = /^(?:-[rCWXo]|--(?:require|import|loader|experimental-loader|conditions|env-file|preload|config))$/
const NO_SCRIPT = new Set(["run", "x", "exec"])
const MOST_ANCESTORS = 64

/**
 * The agent above this process, if there is one. An agent can unset the variable that names it, but not change the
 * environment and the names of the processes it was itself started by. One that detaches a process from all of them
 * escapes this, as does one that reads the owner's files: it runs as the same user. See docs/security.md.
 */
export function agentAbove(pid: number): string | undefined {
  for (const { argv, env } of ancestorsOf(pid)) {
    const agent = agentOf(env) ?? programOf(argv)
    if (agent !== undefined) return agent
  }
  return undefined
}

/** For owner-only commands that are not operations, which no daemon can refuse. */
export function refuseAgents({ agent }: Pick<Environment, "agent">, command: string): void {
  if (agent.shell === undefined) return
  throw new Failure(
    "person_needed",
    `\`throughline ${command}\` is for the owner only, and this shell belongs to an agent (${agent.shell})`,
    { command },
  )
}

interface Ancestor {
  argv: string[]
  env: Record<string, string>
}

function ancestorsOf(pid: number): Ancestor[] {
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid)
}

function fromProc(pid: number): Ancestor[] {
  const found: Ancestor[] = []
  for (
    let at: number | undefined = pid;
    at !== undefined && at > 1 && found.length < MOST_ANCESTORS;
    at = parentOf(at)
  ) {
    const env = Object.fromEntries(wordsOf(at, "environ").map((word) => splitAt(word, word.indexOf("="))))
    found.push({ argv: wordsOf(at, "cmdline"), env })
  }
  return found
}

/** Processes of other users are unreadable. */
function wordsOf(pid: number, file: "environ" | "cmdline"): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0").filter(Boolean)
  } catch {
    return []
  }
}

const splitAt = (word: string, at: number): [string, string] =>
  at < 0 ? [word, ""] : [word.slice(0, at), word.slice(at + 1)]

/** Without /proc the environment is unreadable, so only the command line counts. */
function fromPs(pid: number): Ancestor[] {
  const table = processTable()
  const found: Ancestor[] = []
  for (let at = table.get(pid); at && found.length < MOST_ANCESTORS; at = table.get(at.parent))
    found.push({ argv: at.command.split(" "), env: {} })
  return found
}

function programOf([program = "", ...words]: readonly string[]): string | undefined {
  const name = basename(program)
  const called = INTERPRETER.test(name) ? basename(scriptOf(words)) : name
  const known = called.replace(/\.(?:js|mjs|cjs|py|exe)$/, "")
  return Object.hasOwn(AGENT_PROGRAMS, known) ? AGENT_PROGRAMS[known] : undefined
}

/** Some agents re-execute themselves with interpreter options. */
function scriptOf(words: readonly string[]): string {
  for (let n = 0; n < words.length; n++) {
    const word = words[n]!
    if (WITH_VALUE.test(word)) n++
    else if (!word.startsWith("-") && !NO_SCRIPT.has(word)) return word
  }
  return ""
}
