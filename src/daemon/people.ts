import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { Call } from "../operations/invoke.ts"
import type { CommandExtra } from "../surfaces/cli.ts"
import { page, runInTerminal } from "./terminal.ts"

interface People {
  call: Call
  caller: Caller
  pager: string | undefined
}

/** What a person at a terminal gets beyond the answer: picking, opening, going on. */
export function peopleExtras({ call, caller, pager }: People): Record<string, CommandExtra> {
  const pick = async (): Promise<string | undefined> => {
    if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
    const { pickSession } = await import("./picker.ts")
    return pickSession(call, caller)
  }
  const goOn = async (output: Record<string, unknown>) => {
    const { argv, cwd } = output as { argv: string[]; cwd?: string }
    process.exitCode = await runInTerminal(argv, cwd).catch((error: unknown) => {
      throw new Failure("dependency_missing", `${argv[0]} could not be started`, { argv }, { cause: error })
    })
    return true
  }
  return {
    search: {
      options: [["--open [n]", "show the n-th hit in its conversation (the first if no number is given)"]],
      async fill(given) {
        if (given.query !== undefined) return given
        const sessionId = await pick()
        if (sessionId !== undefined) await goOn(await call("resume", { which: sessionId }, caller))
        else if (!process.stdin.isTTY)
          throw new Failure("bad_input", "say what to search for: throughline search <words>", { parameter: "query" })
        return undefined
      },
      async after(output, { open }) {
        if (open === undefined) return false
        const { hits } = output as { hits: { sessionId: string; exchangeId: string; kind: string }[] }
        const number = open === true ? 1 : Number(open)
        const hit = hits[number - 1]
        if (!hit) {
          if (hits.length === 0) return false
          throw new Failure("bad_input", `--open ${open}: there are ${hits.length} hits`, { parameter: "open" })
        }
        await page(await conversation(hit), pager)
        return true
      },
    },
    resume: {
      options: [["--run", "start the agent right away"]],
      async fill(given) {
        if (given.which !== undefined) return given
        const which = await pick()
        // Without a terminal the newest session of this project is meant.
        if (which === undefined) return process.stdin.isTTY && process.stdout.isTTY ? undefined : given
        return { ...given, which, run: true }
      },
      after: async (output, { run }) => (run === true ? goOn(output) : false),
    },
  }

  async function conversation({
    sessionId,
    exchangeId,
    kind,
  }: {
    sessionId: string
    exchangeId: string
    kind: string
  }) {
    const { sessionsShow } = await import("../operations/sessions.ts")
    const input = { sessionId, superseded: false, ...(kind === "thought" ? {} : { exchange: exchangeId }) }
    const output = await call("sessions.show", input, caller)
    return `${sessionsShow.text(output as never, input)}\n`
  }
}
