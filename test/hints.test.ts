import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { Command } from "commander"
import { expect, test } from "vitest"
import { addCommands } from "../src/daemon/commands/command-line.ts"
import { operations } from "../src/operations/list.ts"
import { cli } from "../src/surfaces/cli/cli.ts"

const unused = async () => ({})
const program = cli({
  version: "0",
  operations,
  call: unused,
  callIfRunning: unused,
  caller: { surface: "cli" },
  write: () => {},
  confirm: async () => false,
})
program.option("--demo")
addCommands(program, {} as never)

/** Not for people to type: what agents and hooks start. */
const HIDDEN = new Set(["daemon", "hook", "mcp"])

/** What a message proposes to type, up to where it becomes prose or a value. */
function hintsIn(source: string): string[] {
  return [...source.matchAll(/\\?`throughline ((?:[a-z-]+)(?: [^`\n]*?)?)\\?`/g)].map(([, words]) => words!)
}

function wrongIn(hint: string): string | undefined {
  const words = hint.split(/\s+/)
  let at: Command = program
  for (const word of words) {
    const next: Command | undefined = at.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (!next) break
    at = next
  }
  if (at === program && !words[0]!.startsWith("-")) return HIDDEN.has(words[0]!) ? undefined : `no command ${words[0]}`
  const known = [...at.options, ...program.options].flatMap(({ long, short }) => [long, short])
  const flag = words.find(
    (word) => /^--[a-z]/.test(word) && !known.includes(word.split("=", 1)[0]) && word !== "--help",
  )
  return flag === undefined ? undefined : `${at.name()} has no ${flag}`
}

const project = fileURLToPath(new URL("..", import.meta.url))
const files = (
  await Array.fromAsync(glob(["src/**/*.ts", "demo/**/*.ts", "web/src/**/*.tsx"], { cwd: project }))
).filter((file) => !file.endsWith(".test.ts"))

test("every command that a message, an error or a page proposes can be typed", () => {
  const hints = files.flatMap((file) =>
    hintsIn(readFileSync(`${project}/${file}`, "utf8")).map((hint) => ({ file, hint })),
  )
  expect(hints.length).toBeGreaterThan(40)
  expect(
    hints.flatMap(({ file, hint }) => {
      const wrong = wrongIn(hint)
      return wrong === undefined ? [] : [`${file}: throughline ${hint}: ${wrong}`]
    }),
  ).toEqual([])
})

test.each(["taems add", "teams add web --projcet x"])("throughline %s is found out", (hint) => {
  expect(wrongIn(hint)).toBeDefined()
})
