import type { Argument, Command, Option } from "commander"

export const SHELLS = ["bash", "zsh", "fish"] as const
export type Shell = (typeof SHELLS)[number]

/** Generates a shell completion script from the commands themselves. */
export function completionScript(program: Command, shell: Shell, names: readonly string[]): string {
  const everywhere = program.options.filter(({ long }) => long !== "--version").flatMap((option) => optionsOf(option))
  return writers[shell](placesOf(program, everywhere), names)
}

/** A command path: `` for the program itself, `/sessions/show` for a subcommand. */
interface Place {
  path: string
  words: Word[]
  options: (Word & { values: readonly string[] | undefined })[]
}

interface Word {
  text: string
  about: string
}

function placesOf(command: Command, everywhere: Place["options"], path = ""): Place[] {
  const help = command.createHelp()
  const subs = help.visibleCommands(command)
  const own = subs.map((sub) => ({ text: sub.name(), about: firstSentence(sub.description()) }))
  const values = command.registeredArguments.flatMap(({ argChoices = [] }: Argument) =>
    argChoices.map((text) => ({ text, about: "" })),
  )
  const options = help.visibleOptions(command).flatMap((option) => optionsOf(option))
  const more = everywhere.filter(({ text }) => options.every((option) => option.text !== text))
  const inside = command.commands.flatMap((sub) => placesOf(sub, everywhere, `${path}/${sub.name()}`))
  return [{ path, words: [...own, ...values], options: [...options, ...more] }, ...inside]
}

function optionsOf({ short, long, description, required, optional, argChoices }: Option): Place["options"] {
  const values = required || optional ? (argChoices ?? []) : undefined
  const about = firstSentence(description)
  return [long, short].flatMap((text) => (text === undefined ? [] : [{ text, about, values }]))
}

const firstSentence = (text: string) => text.split(/[;\n]|\. /)[0]!.replace(/\.$/, "")

const writers: Record<Shell, (places: Place[], names: readonly string[]) => string> = { bash, zsh, fish }

const known = (places: Place[], between: string) =>
  places
    .filter(({ path }) => path !== "")
    .map(({ path }) => path)
    .join(between)

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const texts = (words: readonly Word[]) => quoted(words.map(({ text }) => text).join(" "))

/** After an option, only its values are offered. */
function valueCases(places: Place[], write: (values: readonly string[]) => string): string[] {
  return places.flatMap(({ path, options }) =>
    options.flatMap(({ text, values }) => (values ? [`    "${path} ${text}") ${write(values)} ;;`] : [])),
  )
}

function bash(places: Place[], names: readonly string[]): string {
  return `# bash completion for ${names.join(" and ")}: source <(throughline completion bash)
_throughline() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
      ${known(places, "|")}) at="$at/\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at $prev" in
${valueCases(places, (values) => (values.length === 0 ? "return" : `COMPREPLY=($(compgen -W ${quoted(values.join(" "))} -- "$cur")); return`)).join("\n")}
  esac
  local words= options=
  case "$at" in
${places.map(({ path, words, options }) => `    "${path}") words=${texts(words)} options=${texts(options)} ;;`).join("\n")}
  esac
  if [[ $cur == -* ]]; then words=$options; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _throughline ${names.join(" ")}
`
}

function zsh(places: Place[], names: readonly string[]): string {
  const described = ({ text, about }: Word) => quoted(`${text.replaceAll(":", "\\:")}:${about.replaceAll(":", "\\:")}`)
  const list = (words: readonly Word[]) => words.map(described).join(" ")
  return `#compdef ${names.join(" ")}
# zsh completion: source <(throughline completion zsh), after compinit
_throughline() {
  local at= i
  for ((i = 2; i < CURRENT; i++)); do
    case "$at/\${words[i]}" in
      (${known(places, "|")}) at="$at/\${words[i]}" ;;
    esac
  done
  local -a found flags
  case "$at \${words[CURRENT-1]}" in
${valueCases(places, (values) => (values.length === 0 ? "_files; return" : `found=(${values.map(quoted).join(" ")}); _describe value found; return`)).join("\n")}
  esac
  case "$at" in
${places.map(({ path, words, options }) => `    "${path}") found=(${list(words)}); flags=(${list(options)}) ;;`).join("\n")}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option flags
  elif (( \${#found} > 0 )); then
    _describe command found
  else
    _files
  fi
}
compdef _throughline ${names.join(" ")}
`
}

function fish(places: Place[], names: readonly string[]): string {
  const escaped = (text: string) => `'${text.replaceAll(/['\\]/g, (letter) => `\\${letter}`)}'`
  const lines = places.flatMap(({ path, words, options }) => {
    const here = `-n 'test "$(__throughline_at)" = "${path}"'`
    return [
      ...words.map(({ text, about }) => `${here} -f -a ${escaped(text)} -d ${escaped(about)}`),
      ...options.map(({ text, about, values }) => {
        const flag = text.startsWith("--") ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`
        const value = values === undefined ? "" : values.length === 0 ? " -r" : ` -x -a ${escaped(values.join(" "))}`
        return `${here} ${flag}${value} -d ${escaped(about)}`
      }),
    ]
  })
  return `# fish completion: throughline completion fish | source
function __throughline_at
  set -l at ""
  for word in (commandline -opc)[2..-1]
    switch "$at/$word"
      case ${known(places, " ")}
        set at "$at/$word"
    end
  end
  echo $at
end
${lines.map((line) => `complete -c ${names[0]} ${line}`).join("\n")}
${names
  .slice(1)
  .map((name) => `complete -c ${name} -w ${names[0]}`)
  .join("\n")}
`
}
