import { spawn } from "node:child_process"
import { once } from "node:events"
import { constants } from "node:os"
import { stripVTControlCharacters, styleText } from "node:util"
import { rgbOf } from "../../domain/colour.ts"
import { after } from "../../lib/clock.ts"
import { columnsOf } from "../../operations/columns.ts"
import type { Style } from "../../operations/operation.ts"
import { personsEnvironment } from "../process/environment.ts"

/** The program for long texts. */
export interface Pager {
  /** The user's choice. */
  command: string | undefined
  env: NodeJS.ProcessEnv
}

const COLUMNS = 80
const ROWS = 24

/** Whether a person can see prompts and answer. */
export function isAtTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true
}

/** Undefined if the terminal shows no colours. */
export function terminalStyle(): Style | undefined {
  if (!process.stdout.isTTY || !process.stdout.hasColors?.()) return undefined
  return {
    bold: (text) => styleText("bold", text),
    dim: (text) => styleText("dim", text),
    accent: (text) => styleText("cyan", text),
    mark: (text) => styleText(["bold", "yellow"], text),
    paint: (hex, text) => painted(hex, text),
    columns: process.stdout.columns ?? COLUMNS,
  }
}

/** Unchanged in a terminal with few colours. */
function painted(hex: string, text: string): string {
  if (!process.stdout.hasColors?.(ALL_COLOURS)) return text
  return `\u001b[38;2;${rgbOf(hex).join(";")}m${text}\u001b[39m`
}

const ALL_COLOURS = 2 ** 24

/** Silent if there is no less. */
const LESS = "command -v less >/dev/null 2>&1 || exit 127; exec less"
const NO_SUCH_PROGRAM = 127

/** Pages text that is longer than the screen; prints everything else. */
export async function page(text: string, { command, env }: Pager): Promise<void> {
  if (!isLong(text) || command === "" || command === "cat") return print(text)
  const child = spawn(command ?? LESS, { shell: true, stdio: ["pipe", "inherit", "inherit"], env })
  // Closing the pager early is not an error.
  child.stdin.on("error", () => {})
  child.stdin.end(text)
  const ignoring = ignoreInterrupts()
  const [code] = (await once(child, "close")) as [number | null]
  ignoring.end()
  if (code === NO_SUCH_PROGRAM) print(text)
}

function isLong(text: string): boolean {
  if (!process.stdout.isTTY) return false
  const { rows = ROWS, columns = COLUMNS } = process.stdout
  const needed = text.split("\n").map((line) => Math.ceil(columnsOf(stripVTControlCharacters(line)) / columns) || 1)
  return needed.reduce((sum, lines) => sum + lines, 0) > rows
}

/** On some desktops it runs as long as the browser. */
const OPENED_MS = 3_000

/** Opens a file with the desktop's default program. False without a desktop. */
export function openForPerson(path: string): Promise<boolean> {
  const program = process.platform === "darwin" ? "open" : "xdg-open"
  const child = spawn(program, [path], { stdio: "ignore", detached: true, env: personsEnvironment() })
  return new Promise((resolve) => {
    const settle = (isOpened: boolean) => {
      cancel()
      // Not earlier: the process could exit before it has reported anything.
      child.unref()
      resolve(isOpened)
    }
    const cancel = after(OPENED_MS, () => settle(true))
    child.once("error", () => settle(false))
    child.once("close", (code) => settle(code === 0))
  })
}

/** Runs another program in this terminal and returns its exit code. */
export async function runInTerminal(argv: readonly string[], cwd: string | undefined): Promise<number> {
  const [program = "", ...rest] = argv
  const child = spawn(program, rest, { stdio: "inherit", ...(cwd === undefined ? {} : { cwd }) })
  const ignoring = ignoreInterrupts()
  return new Promise<number>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  }).finally(ignoring.end)
}

/** Ctrl-C reaches every program of the terminal; let the foreground one handle it. */
function ignoreInterrupts(): { end(): void } {
  const ignore = () => {}
  process.on("SIGINT", ignore)
  return { end: () => void process.off("SIGINT", ignore) }
}

function print(text: string): void {
  process.stdout.write(text)
}
