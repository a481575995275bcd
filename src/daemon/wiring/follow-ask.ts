import { Failure } from "../../domain/failure.ts"
import { visible } from "../../operations/columns.ts"
import { permissionText } from "../../operations/permissions.ts"
import { askTextForPeople } from "../../operations/teams-ask.ts"
import { client, type OutputOf } from "../../surfaces/http/client.ts"
import { isAtTerminal } from "../commands/terminal.ts"
import { askPerson, INTERRUPTED_EXIT, type PersonAsking } from "./watch-permissions.ts"

/** Short, so that the agent's requests appear soon. */
const WAIT_MS = 1_000
const UNSETTLED = ["queued", "delivered", "seen", "running"]
/** The exit code of a failed agent. */
const FAILED_EXIT = 6

/** Asks, and streams the answer. Survives a daemon restart, as the question does. */
export async function followAsk({ input, ...by }: PersonAsking & { input: Record<string, unknown> }): Promise<void> {
  const { call, caller } = by
  const untilMs = performance.now() + (typeof input.timeout === "number" ? input.timeout : Number.POSITIVE_INFINITY)
  const { messageId } = (await call("teams_ask", { ...input, timeout: 0 }, caller)) as OutputOf<"teams_ask">
  const sayGoesOn = () => note(`\n${goesOn(messageId)}`)
  const onInterrupt = () => {
    sayGoesOn()
    process.exit(INTERRUPTED_EXIT)
  }
  process.on("SIGINT", onInterrupt)
  try {
    await follow(messageId, { ...by, onInterrupt: sayGoesOn }, untilMs)
  } finally {
    process.off("SIGINT", onInterrupt)
  }
}

async function follow(messageId: string, by: PersonAsking, untilMs: number): Promise<void> {
  const ask = client(by.call, by.caller)
  const isTerminal = process.stderr.isTTY === true
  const shown = new Set<string>()
  let printed = ""
  let known: string | undefined
  for (let from = 0; ; ) {
    const page = await ask("teams.follow", { messageId, from, timeout: WAIT_MS }).catch((error: unknown) => {
      if (!Failure.from(error).kind.retry) throw error
      return undefined
    })
    if (!page) continue
    from = page.at
    printed += page.text
    process.stdout.write(visible(page.text))
    const pending = (page.permissions ?? []).filter((id) => !shown.has(id))
    if (pending.length > 0) {
      for (const id of pending) shown.add(id)
      await showPending(pending, by)
    }
    const now = page.doing ?? (page.status === "queued" ? page.reason : undefined)
    if (isTerminal && now !== undefined && now !== known) note(`… ${now}`)
    known = now
    if (UNSETTLED.includes(page.status)) {
      if (performance.now() < untilMs) continue
      process.stdout.write(`${printed === "" ? "" : "\n"}${visible(askTextForPeople(page))}\n`)
      return
    }
    // Text from the agent's records, or from before the stream began, was not streamed.
    const isWhole = page.answer !== undefined && printed.trimEnd().endsWith(page.answer.trimEnd())
    if (page.status === "done") process.stdout.write(isWhole ? "\n" : `${visible(askTextForPeople(page))}\n`)
    else {
      note(`${printed === "" ? "" : "\n"}${askTextForPeople(page)}`)
      process.exitCode = FAILED_EXIT
    }
    return
  }
}

/** Prompts for pending approvals in a terminal; otherwise prints how to answer them. */
async function showPending(ids: readonly string[], by: PersonAsking): Promise<void> {
  const { permissions } = await client(by.call, by.caller)("permissions.list", {})
  for (const view of permissions.filter(({ id }) => ids.includes(id))) {
    // A command that an agent runs never speaks for the person.
    if (isAtTerminal() && by.caller.agentShell === undefined) await askPerson(view, by)
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
