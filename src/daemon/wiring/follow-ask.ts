import type { z } from "zod"
import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { visible } from "../../operations/columns.ts"
import type { Call } from "../../operations/invoke.ts"
import { type PermissionView, permissionText } from "../../operations/permissions.ts"
import { type AskView, askTextForPeople } from "../../operations/teams-ask.ts"
import { isAtTerminal } from "../commands/terminal.ts"
import { askPerson } from "./watch-permissions.ts"

/** Short, so that what the agent asks of the person is shown soon. */
const WAIT_MS = 1_000
const UNSETTLED = ["queued", "delivered", "seen", "running"]
/** As of an agent that failed. */
const FAILED_EXIT = 6
/** As a shell says it of a program that was ended by Ctrl-C. */
const INTERRUPTED_EXIT = 130

type Page = z.output<typeof AskView> & { text: string; at: number; doing?: string }

interface FollowOptions {
  call: Call
  caller: Caller
  input: Record<string, unknown>
}

/** Asks, and prints the answer as it is written. A daemon that is away for a while is waited for: the question outlives it. */
export async function followAsk({ call, caller, input }: FollowOptions): Promise<void> {
  const untilMs = performance.now() + (typeof input.timeout === "number" ? input.timeout : Number.POSITIVE_INFINITY)
  const { messageId } = (await call("teams_ask", { ...input, timeout: 0 }, caller)) as { messageId: string }
  const sayGoesOn = () => note(`\n${goesOn(messageId)}`)
  const onInterrupt = () => {
    sayGoesOn()
    process.exit(INTERRUPTED_EXIT)
  }
  process.on("SIGINT", onInterrupt)
  try {
    await follow(messageId, { call, caller, onInterrupt: sayGoesOn, untilMs })
  } finally {
    process.off("SIGINT", onInterrupt)
  }
}

async function follow(
  messageId: string,
  {
    call,
    caller,
    onInterrupt,
    untilMs,
  }: Pick<FollowOptions, "call" | "caller"> & { onInterrupt: () => void; untilMs: number },
): Promise<void> {
  const isTerminal = process.stderr.isTTY === true
  const shown = new Set<string>()
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
    const pending = (page.permissions ?? []).filter((id) => !shown.has(id))
    if (pending.length > 0) {
      for (const id of pending) shown.add(id)
      await showPending(pending, { call, caller, onInterrupt })
    }
    const now = page.doing ?? (page.status === "queued" ? page.reason : undefined)
    if (isTerminal && now !== undefined && now !== known) note(`… ${now}`)
    known = now
    if (UNSETTLED.includes(page.status)) {
      if (performance.now() < untilMs) continue
      process.stdout.write(`${printed === "" ? "" : "\n"}${visible(askTextForPeople(page))}\n`)
      return
    }
    // What was found in the agent's records, or said before anybody watched, was not streamed.
    const isWhole = page.answer !== undefined && printed.trimEnd().endsWith(page.answer.trimEnd())
    if (page.status === "done") process.stdout.write(isWhole ? "\n" : `${visible(askTextForPeople(page))}\n`)
    else {
      note(`${printed === "" ? "" : "\n"}${askTextForPeople(page)}`)
      process.exitCode = FAILED_EXIT
    }
    return
  }
}

/** What the agent may do only when a person says so: asked where there is a terminal, otherwise said how to answer it. */
async function showPending(
  ids: readonly string[],
  { call, caller, onInterrupt }: { call: Call; caller: Caller; onInterrupt: () => void },
): Promise<void> {
  const { permissions } = (await call("permissions.list", {}, caller)) as { permissions: PermissionView[] }
  for (const view of permissions.filter(({ id }) => ids.includes(id))) {
    // A command that an agent runs is not the person's own word, whatever it runs in.
    if (isAtTerminal() && caller.agentShell === undefined) await askPerson(view, { call, caller, onInterrupt })
    else note(`The agent needs a person:\n${permissionText(view)}`)
  }
}

const goesOn = (messageId: string) =>
  [
    `The question continues as ${messageId}.`,
    `  Read the answer: throughline teams status --message-id ${messageId}`,
    `  Cancel it: throughline teams control cancel --message-id ${messageId}`,
  ].join("\n")

const note = (text: string) => void process.stderr.write(`${visible(text)}\n`)
