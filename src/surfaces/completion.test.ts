import { execFileSync } from "node:child_process"
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

test("zsh and fish get the same words, with what they are for", () => {
  const zsh = completionScript(program, "zsh", ["throughline", "tl"])
  expect(zsh).toContain(`'show:It'\\''s one'`)
  expect(zsh).toContain(`"/sessions/export --format") found=('markdown' 'json')`)
  const fish = completionScript(program, "fish", ["throughline", "tl"])
  expect(fish).toContain(`= "/sessions"' -f -a 'show' -d 'It\\'s one'`)
  expect(fish).toContain(`-l format -x -a 'markdown json' -d 'as what'`)
  expect(fish).toContain("complete -c tl -w throughline")
})
