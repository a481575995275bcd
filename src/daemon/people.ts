import { existsSync } from "node:fs"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { visible } from "../operations/columns.ts"
import type { Call } from "../operations/invoke.ts"
import { minute, projectName } from "../operations/text.ts"
import type { CommandExtra } from "../surfaces/cli.ts"
import { followAsk } from "./follow-ask.ts"
import { followUpdates } from "./follow-updates.ts"
import type { Offer } from "./picker.ts"
import { isAtTerminal, type Pager, page, runInTerminal } from "./terminal.ts"
import { watchPermissions } from "./watch-permissions.ts"

interface People {
  call: Call
  caller: Caller
  pager: Pager
}

type Given = Record<string, unknown>

/** What a person at a terminal gets beyond the answer: picking, opening, going on. */
export function peopleExtras({ call, caller, pager }: People): Record<string, CommandExtra> {
  /** Undefined when they left, or when there is nothing to pick from. */
  const pick = async (filters: Given = {}): Promise<string | undefined> => {
    const offer = offerOf(call, caller, filters)
    const { choices, note } = await offer("")
    if (choices.length === 0 && note === NOTHING_YET) {
      process.stdout.write(`${NOTHING_YET}\n`)
      return undefined
    }
    const { pickSession } = await import("./picker.ts")
    const { id, isInterrupted } = await pickSession(offer)
    if (isInterrupted) process.exitCode = INTERRUPTED_EXIT
    return id
  }
  const goOn = async (output: Given) => {
    const { argv, cwd, command } = output as { argv: string[]; cwd?: string; command: string }
    if (cwd !== undefined && !existsSync(cwd))
      throw new Failure("root_not_found", `the folder of this session is not there any more: ${cwd}`, { cwd })
    process.stderr.write(`${command}\n`)
    process.exitCode = await runInTerminal(argv, cwd).catch((error: unknown) => {
      throw new Failure("dependency_missing", `${argv[0]} could not be started`, { argv }, { cause: error })
    })
    return true
  }
  return {
    search: {
      options: [["--open [n]", "show the n-th hit in its conversation (the first if no number is given)"]],
      async fill(given) {
        const { query, open, ...filters } = given
        if (query !== undefined) return given
        if (!isAtTerminal() || open !== undefined)
          throw new Failure("bad_input", "say what to search for: throughline search <words>", { parameter: "query" })
        const picked = await pick(filters)
        if (picked !== undefined) await goOn(await call("resume", { which: picked }, caller))
        return undefined
      },
      async after(output, { open, superseded }) {
        if (open === undefined) return false
        const { hits } = output as { hits: Hit[] }
        const number = open === true ? 1 : Number(open)
        const hit = hits[number - 1]
        if (!hit) {
          if (hits.length === 0) return false
          throw new Failure("bad_input", `--open ${open}: there are ${hits.length} hits`, { parameter: "open" })
        }
        await page(await conversation(hit, superseded === true), pager)
        return true
      },
    },
    pull_updates: {
      options: [["--follow", "print what is new as it comes, until Ctrl-C"]],
      async fill(given, { json }) {
        const { target, follow } = given
        if (target === undefined)
          throw new Failure("bad_input", "say whose: throughline updates <team>", { parameter: "target" })
        if (follow !== true) return given
        await followUpdates({ call, caller, input: given, json })
        return undefined
      },
    },
    "permissions.list": {
      options: [["--watch", "show each question as it comes, and ask for the answer"]],
      fill: async (given) => (given.watch === true ? watchPermissions({ call, caller }) : given),
    },
    teams_ask: {
      options: [],
      async fill(given, { json }) {
        const { team, question, timeout } = given
        if (team === undefined || question === undefined)
          throw new Failure("bad_input", "say whom and what: throughline ask <team> <question>", {
            parameter: team === undefined ? "team" : "question",
          })
        // A program reads the answer when it is whole, and who does not wait is asked nothing.
        if (json || timeout === 0) return given
        await followAsk({ call, caller, input: given })
        return undefined
      },
    },
    resume: {
      options: [["--run", "start the agent right away"]],
      async fill(given) {
        // Without a terminal the newest session of this project is meant.
        if (given.which !== undefined || !isAtTerminal()) return given
        const which = await pick()
        return which === undefined ? undefined : { ...given, which, run: true }
      },
      after: async (output, { run }) => (run === true ? goOn(output) : false),
    },
  }

  async function conversation({ sessionId, exchangeId, kind }: Hit, superseded: boolean) {
    const { sessionsShow } = await import("../operations/sessions.ts")
    const input = { sessionId, superseded, ...(kind === "thought" ? {} : { exchange: exchangeId }) }
    const output = await call("sessions.show", input, caller)
    return `${visible(sessionsShow.text(output as never, input))}\n`
  }
}

/** As a shell says it of a program that was ended by Ctrl-C. */
const INTERRUPTED_EXIT = 130
const OFFERED = 30

/** The newest sessions, or those in which is found what was typed. Each session once. */
function offerOf(call: Call, caller: Caller, filters: Given): Offer {
  const isNarrowed = Object.keys(filters).length > 0
  return async (typed) => {
    if (typed.trim() !== "") {
      // The last word may not be whole yet.
      const query = /[\p{L}\p{N}_]$/u.test(typed) ? `${typed}*` : typed
      const { hits, notes } = (await call("search", { limit: OFFERED, ...filters, query }, caller)) as {
        hits: Hit[]
        notes: string[]
      }
      const first = hits.filter((hit, at) => hits.findIndex(({ sessionId }) => sessionId === hit.sessionId) === at)
      const none = hits.length === 0 ? ["Nothing found."] : []
      return {
        choices: first.map((hit) => choiceOf({ ...hit, id: hit.sessionId, preview: hit.snippet })),
        note: [...none, ...notes].join(" ") || undefined,
      }
    }
    if (isNarrowed) return { choices: [], note: "Type what to look for." }
    const { sessions } = (await call("sessions.list", { limit: OFFERED }, caller)) as { sessions: Listed[] }
    const resumable = sessions.filter(({ resumeCommand }) => resumeCommand !== undefined)
    return {
      choices: resumable.map((session) =>
        choiceOf({ ...session, project: session.mcpRootUri, at: session.updatedAt, preview: session.resumeCommand! }),
      ),
      note: resumable.length === 0 ? NOTHING_YET : undefined,
    }
  }
}

const NOTHING_YET =
  "No agent's session is kept yet. Conversations of the agents on this machine appear by themselves; `throughline sources` shows where they are looked for."

interface Hit {
  sessionId: string
  exchangeId: string
  kind: string
  title: string
  platform: string
  project?: string
  at: string
  snippet: string
}

interface Listed {
  id: string
  title: string
  platform: string
  mcpRootUri?: string | undefined
  updatedAt: string
  resumeCommand?: string
}

function choiceOf({ id, title, platform, project, at, preview }: Described) {
  const about: [string, string, string] = [minute(at), platform, projectName(project)]
  return { id, title, about, preview }
}

interface Described {
  id: string
  title: string
  platform: string
  project?: string | undefined
  at: string
  preview: string
}
