import { createInterface } from "node:readline/promises"
import { setTimeout as sleep } from "node:timers/promises"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { visible } from "../operations/columns.ts"
import type { Call } from "../operations/invoke.ts"
import { type PermissionView, permissionsAnswer, permissionText } from "../operations/permissions.ts"
import { isAtTerminal } from "./terminal.ts"

const ASK_MS = 500

/** Shows each question as it comes and asks for the answer, until Ctrl-C. One that is answered elsewhere goes away. */
export async function watchPermissions({ call, caller }: { call: Call; caller: Caller }): Promise<never> {
  if (!isAtTerminal())
    throw new Failure("bad_input", "--watch asks at a terminal, and there is none", { parameter: "watch" })
  const left = new Set<string>()
  const waiting = async () =>
    ((await call("permissions.list", {}, caller)) as { permissions: PermissionView[] }).permissions
  write("Waiting for agents to ask. Ctrl-C ends this; what waits then goes on waiting.\n")
  for (;;) {
    const next = (await waiting()).find(({ id }) => !left.has(id))
    if (!next) {
      await sleep(ASK_MS)
      continue
    }
    left.add(next.id)
    write(`\n${visible(permissionText(next))}\n`)
    const said = await question(next, async () => !(await waiting()).some(({ id }) => id === next.id))
    if (said === undefined) write("It was answered elsewhere, or is asked no longer.\n")
    else if (said === "later") write("It goes on waiting.\n")
    else {
      const output = await call("permissions.answer", { id: next.id, ...said }, caller)
      write(`${visible(permissionsAnswer.text(output as never, { id: next.id, ...said }))}\n`)
    }
  }
}

type Said = { answer: "allow" | "deny" | "always"; which?: number; reason?: string }

/** Undefined when it went away while it was being looked at. */
async function question({ suggestions }: PermissionView, isGone: () => Promise<boolean>) {
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  const gone = new AbortController()
  const timer = setInterval(() => {
    isGone().then(
      (is) => is && gone.abort(),
      () => {},
    )
  }, ASK_MS)
  reader.once("SIGINT", () => process.exit(130))
  reader.once("close", () => gone.abort())
  const always = suggestions.map((_, place) => `, ${place + 1} always by that rule`).join("")
  try {
    for (;;) {
      const said = saidBy(
        await reader.question(`[a]llow, [d]eny (d why), [l]ater${always}: `, { signal: gone.signal }),
        suggestions.length,
      )
      if (said !== undefined) return said
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error
    write("\n")
    return undefined
  } finally {
    clearInterval(timer)
    reader.close()
  }
}

/** Nothing is allowed by a slip: only the letter, or the whole word. */
export function saidBy(line: string, rules: number): Said | "later" | undefined {
  const [word = "", ...rest] = line.trim().split(/\s+/)
  const reason = rest.join(" ")
  if (/^(d|deny)$/i.test(word)) return { answer: "deny", ...(reason !== "" && { reason }) }
  if (reason !== "") return undefined
  if (/^(a|allow)$/i.test(word)) return { answer: "allow" }
  if (/^(l|later)$/i.test(word)) return "later"
  const which = Number(word)
  return /^\d+$/.test(word) && which >= 1 && which <= rules ? { answer: "always", which } : undefined
}

const write = (text: string) => void process.stdout.write(text)
