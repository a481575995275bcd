import { createInterface } from "node:readline/promises"
import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { every, sleep } from "../../lib/clock.ts"
import { visible } from "../../operations/columns.ts"
import type { Call } from "../../operations/invoke.ts"
import { type PermissionView, permissionsAnswer, permissionText } from "../../operations/permissions.ts"
import { client } from "../../surfaces/http/client.ts"
import { isAtTerminal } from "../commands/terminal.ts"

const ASK_MS = 500

/** A shell's exit code for Ctrl-C. */
export const INTERRUPTED_EXIT = 130

/** Who asks, and what runs on Ctrl-C. */
export interface PersonAsking {
  call: Call
  caller: Caller
  onInterrupt?: () => void
}

/** Prompts for each request until Ctrl-C. A request answered elsewhere disappears. */
export async function watchPermissions({ call, caller }: PersonAsking): Promise<never> {
  if (!isAtTerminal()) throw new Failure("bad_input", "--watch needs a terminal", { parameter: "watch" })
  const left = new Set<string>()
  const ask = client(call, caller)
  write("Waiting for permission requests. Ctrl-C to quit; pending requests stay pending.\n")
  for (;;) {
    const next = (await ask("permissions.list", {})).permissions.find(({ id }) => !left.has(id))
    if (!next) {
      await sleep(ASK_MS)
      continue
    }
    left.add(next.id)
    await askPerson(next, { call, caller })
  }
}

/** Shows a request and submits the answer. */
export async function askPerson(view: PermissionView, { call, caller, onInterrupt }: PersonAsking): Promise<void> {
  const { id } = view
  const isGone = async () => {
    const { permissions } = await client(call, caller)("permissions.list", {})
    return !permissions.some((one) => one.id === id)
  }
  write(`\n${visible(permissionText(view))}\n`)
  const said = await question(view, isGone, onInterrupt)
  if (said === undefined) return write("Already answered elsewhere, or withdrawn.\n")
  if (said === "later") return write("Left pending.\n")
  const output = await call("permissions.answer", { id, ...said }, caller)
  write(`${visible(permissionsAnswer.text(output as never, { id, stop: false, ...said }))}\n`)
}

type Said = { answer: "allow" | "deny" | "always" | "answer"; which?: number; reason?: string; with?: string[] }

/** Undefined if it was answered elsewhere meanwhile. */
async function question(
  { suggestions, questions }: PermissionView,
  isGone: () => Promise<boolean>,
  onInterrupt: PersonAsking["onInterrupt"],
) {
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  const gone = new AbortController()
  const stopLooking = every(ASK_MS, () => {
    isGone().then(
      (is) => is && gone.abort(),
      () => {},
    )
  })
  reader.once("SIGINT", () => {
    onInterrupt?.()
    process.exit(INTERRUPTED_EXIT)
  })
  reader.once("close", () => gone.abort())
  const always = suggestions.map((_, place) => `, ${place + 1} always by this rule`).join("")
  const choice =
    questions.length > 0
      ? `[d]eny (d why), [l]ater, or ${questions.length === 1 ? "the answer" : "the answers, with ; between them"}: `
      : `[a]llow, [d]eny (d why), [l]ater${always}: `
  try {
    for (;;) {
      const line = await reader.question(choice, { signal: gone.signal })
      const said = saidBy(line, suggestions.length, questions.length)
      if (said !== undefined) return said
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error
    write("\n")
    return undefined
  } finally {
    stopLooking()
    reader.close()
  }
}

/** Only the letter or the whole word allows anything, never a typo. */
export function saidBy(line: string, rules: number, questions = 0): Said | "later" | undefined {
  const [word = "", ...rest] = line.trim().split(/\s+/)
  const reason = rest.join(" ")
  if (/^(d|deny)$/i.test(word)) return { answer: "deny", ...(reason !== "" && { reason }) }
  if (/^(l|later)$/i.test(line.trim())) return "later"
  if (questions > 0) {
    const words = line.split(";").map((part) => part.trim())
    return words.length === questions && !words.includes("") ? { answer: "answer", with: words } : undefined
  }
  if (reason !== "") return undefined
  if (/^(a|allow)$/i.test(word)) return { answer: "allow" }
  const which = Number(word)
  return /^\d+$/.test(word) && which >= 1 && which <= rules ? { answer: "always", which } : undefined
}

const write = (text: string) => void process.stdout.write(text)
