import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Argument, Command, Option } from "commander"
import { expect, test } from "vitest"
import { completionScript } from "./completion.ts"

const program = new Command("throughline").version("1").option("--demo", "on a sample")
const sessions = program.command("sessions").description("List; all of them").option("--limit <n>", "how many")
sessions.command("show").description("It's one")
sessions.command("export").addOption(new Option("--format <value>", "as what").choices(["markdown", "json"]))
program.command("completion").addArgument(new Argument("<shell>").choices(["bash", "zsh"]))
program.command("hidden", { hidden: true })

/** As bash asks for it when somebody presses Tab behind these words. */
function completed(...words: string[]): string[] {
  const script = completionScript(program, "bash", ["throughline", "tl"])
  const typed = words.map((word) => `'${word}'`).join(" ")
  const asked = `${script}
COMP_WORDS=(${typed}) COMP_CWORD=${words.length - 1}
complete -p ${words[0]} | grep -q -- "-F _throughline ${words[0]}$" || exit 9
_throughline; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync("bash", ["--norc", "-c", asked], { encoding: "utf8" }).split("\n").filter(Boolean)
}

test("bash completes commands, their commands and the choices of an argument, under both names", () => {
  expect(completed("throughline", "")).toEqual(["sessions", "completion", "help"])
  expect(completed("throughline", "se")).toEqual(["sessions"])
  expect(completed("tl", "sessions", "e")).toEqual(["export"])
  expect(completed("throughline", "completion", "z")).toEqual(["zsh"])
})

test("bash completes options where they belong, with their values, and those that go everywhere", () => {
  expect(completed("throughline", "sessions", "--l")).toEqual(["--limit"])
  expect(completed("throughline", "sessions", "--limit", "5", "sh")).toEqual(["show"])
  expect(completed("throughline", "sessions", "show", "--l")).toEqual([])
  expect(completed("throughline", "sessions", "show", "--d")).toEqual(["--demo"])
  expect(completed("throughline", "sessions", "export", "--format", "")).toEqual(["markdown", "json"])
  expect(completed("throughline", "sessions", "--limit", "")).toEqual([])
})

/** As zsh asks for it: `_describe` is what it shows, here with what each word is for. */
function completedByZsh(...words: string[]): string[] {
  const script = completionScript(program, "zsh", ["throughline", "tl"])
  const asked = `compdef() { print -r -- "$@" > /dev/null }
_describe() { print -rl -- \${(P)2} }
_files() { print files }
${script}
words=(${words.map((word) => `'${word}'`).join(" ")}) CURRENT=${words.length}
_throughline`
  return execFileSync("zsh", ["-f", "-c", asked], { encoding: "utf8" }).split("\n").filter(Boolean)
}

test("zsh offers the same words, with what they are for", () => {
  expect(completedByZsh("throughline", "sessions", "")).toEqual([
    "show:It's one",
    "export:",
    "help:display help for command",
  ])
  expect(completedByZsh("tl", "sessions", "--")).toEqual(
    expect.arrayContaining(["--limit:how many", "--demo:on a sample"]),
  )
  expect(completedByZsh("throughline", "sessions", "export", "--format", "")).toEqual(["markdown", "json"])
  expect(completedByZsh("throughline", "sessions", "--limit", "")).toEqual(["files"])
})

/** What fish itself says that it would offer behind this text. */
function completedByFish(typed: string): string[] {
  const script = completionScript(program, "fish", ["throughline", "tl"])
  const home = mkdtempSync(join(tmpdir(), "fish-"))
  try {
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home }
    const asked = `${script}\ncomplete -C ${JSON.stringify(typed)}`
    return execFileSync("fish", ["--no-config", "-c", asked], { encoding: "utf8", env }).split("\n").filter(Boolean)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

test("fish offers the same words, with what they are for, under both names", () => {
  expect(completedByFish("throughline sess")).toEqual(["sessions\tList"])
  expect(completedByFish("tl sessions s")).toEqual(["show\tIt's one"])
  expect(completedByFish("throughline sessions --l")).toEqual(["--limit\thow many"])
  expect(completedByFish("throughline sessions export --format ").map((line) => line.split("\t")[0])).toEqual([
    "json",
    "markdown",
  ])
})
