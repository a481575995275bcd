import type { z } from "zod"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { visible } from "../operations/columns.ts"
import type { Call } from "../operations/invoke.ts"
import { type AskView, askText } from "../operations/teams-ask.ts"

const WAIT_MS = 5_000
const UNSETTLED = ["queued", "delivered", "seen", "running"]
/** As of an agent that failed. */
const FAILED_EXIT = 6

type Page = z.output<typeof AskView> & { text: string; at: number; doing?: string }

/** Asks, and prints the answer as it is written. A daemon that is away for a while is waited for: the question outlives it. */
export async function followAsk({
  call,
  caller,
  input,
}: {
  call: Call
  caller: Caller
  input: Record<string, unknown>
}): Promise<void> {
  const { messageId } = await call("teams_ask", { ...input, timeout: 0 }, caller)
  const isTerminal = process.stderr.isTTY === true
  let printed = ""
  let known: string | undefined
  for (let from = 0; ; ) {
    const page = (await call("teams.follow", { messageId, from, timeout: WAIT_MS }, caller).catch((error: unknown) => {
      if (!Failure.from(error).kind.retry) throw error
      return undefined
    })) as Page | undefined
    if (!page) continue
    from = page.at
    printed += page.text
    process.stdout.write(visible(page.text))
    const now = page.doing ?? (page.status === "queued" ? page.reason : undefined)
    if (isTerminal && now !== undefined && now !== known) process.stderr.write(`… ${visible(now)}\n`)
    known = now
    if (UNSETTLED.includes(page.status)) continue
    // What was found in the agent's records, or said before anybody watched, was not streamed.
    const isWhole = page.answer !== undefined && printed.trimEnd().endsWith(page.answer.trimEnd())
    if (page.status === "done") process.stdout.write(isWhole ? "\n" : `${visible(askText(page))}\n`)
    else {
      process.stderr.write(`${printed === "" ? "" : "\n"}${visible(askText(page))}\n`)
      process.exitCode = FAILED_EXIT
    }
    return
  }
}
