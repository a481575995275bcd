import { spawn } from "node:child_process"
import { once } from "node:events"
import { styleText } from "node:util"
import type { Style } from "../operations/operation.ts"

/** Undefined where a person would see codes instead of colours. */
export function terminalStyle(): Style | undefined {
  if (!process.stdout.isTTY || !process.stdout.hasColors?.()) return undefined
  return {
    bold: (text) => styleText("bold", text),
    dim: (text) => styleText("dim", text),
    accent: (text) => styleText("cyan", text),
    mark: (text) => styleText(["bold", "yellow"], text),
  }
}

/** What is longer than the screen is shown page by page; what is not, and what goes to a file, is printed. */
export async function page(text: string, pager: string | undefined): Promise<void> {
  const isLong = process.stdout.isTTY && text.split("\n").length > (process.stdout.rows ?? 24)
  if (!isLong || pager === "" || pager === "cat") return print(text)
  const child = spawn(pager ?? "less -RFX", { shell: true, stdio: ["pipe", "inherit", "inherit"] })
  // A pager that is closed early is no error.
  child.stdin.on("error", () => {})
  child.stdin.end(text)
  const [code] = (await once(child, "close")) as [number | null]
  // The shell's answer where there is no such program.
  if (code === 127) print(text)
}

/** Hands the terminal over to another program until it ends; its exit code becomes ours. */
export async function runInTerminal(argv: readonly string[], cwd: string | undefined): Promise<number> {
  const [program = "", ...rest] = argv
  const child = spawn(program, rest, { stdio: "inherit", ...(cwd === undefined ? {} : { cwd }) })
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (status, signal) => resolve(status ?? (signal === null ? 1 : 128)))
  })
  return code
}

function print(text: string): void {
  process.stdout.write(text)
}
