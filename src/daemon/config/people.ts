import { existsSync } from "node:fs"
import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { visible } from "../../operations/columns.ts"
import type { Call } from "../../operations/invoke.ts"
import { minute, projectName } from "../../operations/text.ts"
import type { CommandExtra } from "../../surfaces/cli/cli.ts"
import { client, type OutputOf } from "../../surfaces/http/client.ts"
import type { Choice, Offer } from "../commands/picker.ts"
import { isAtTerminal, type Pager, page, runInTerminal } from "../commands/terminal.ts"
import { followAsk } from "../wiring/follow-ask.ts"
import { followUpdates } from "../wiring/follow-updates.ts"
import { INTERRUPTED_EXIT, watchPermissions } from "../wiring/watch-permissions.ts"

interface People {
  call: Call
  caller: Caller
  pager: Pager
}

type Given = Record<string, unknown>

/** What a person at a terminal gets beyond the answer: a picker, a pager, the resumed agent. */
export function peopleExtras({ call, caller, pager }: People): Record<string, CommandExtra> {
  /** Undefined if the person quit, or there is nothing to pick from. */
  const pick = async (filters: Given = {}): Promise<string | undefined> => {
    const offer = offerOf(call, caller, filters)
    const { choices, note } = await offer("")
    if (choices.length === 0 && note === NOTHING_YET) {
      process.stdout.write(`${NOTHING_YET}\n`)
      return undefined
    }
    const { pickSession } = await import("../commands/picker.ts")
    const { id, isInterrupted } = await pickSession(offer)
    if (isInterrupted) process.exitCode = INTERRUPTED_EXIT
    return id
  }
  const resumeAgent = async (output: Given) => {
    const { argv, cwd, command } = output as OutputOf<"resume">
    if (cwd !== undefined && !existsSync(cwd))
      throw new Failure("root_not_found", `the folder of this session no longer exists: ${cwd}`, { cwd })
    process.stderr.write(`${command}\n`)
    process.exitCode = await runInTerminal(argv, cwd).catch((error: unknown) => {
      const why = `could not start \`${argv[0]}\`: not found on PATH`
      throw new Failure("dependency_missing", why, { argv }, { cause: error })
    })
    return true
  }
  return {
    search: {
      options: [["--open [n]", "show the n-th result in its conversation (default: the first)"]],
      async fill(given) {
        const { query, open, ...filters } = given
        if (query !== undefined) return given
        if (!isAtTerminal() || open !== undefined)
          throw new Failure("bad_input", "missing query: throughline search <words>", { parameter: "query" })
        const picked = await pick(filters)
        if (picked !== undefined) await resumeAgent(await call("resume", { which: picked }, caller))
        return undefined
      },
      async after(output, { open, superseded }) {
        if (open === undefined) return false
        const { hits } = output as OutputOf<"search">
        const number = open === true ? 1 : Number(open)
        const hit = hits[number - 1]
        if (!hit) {
          if (hits.length === 0) return false
          throw new Failure("bad_input", `--open ${open}: there are only ${hits.length} results`, { parameter: "open" })
        }
        await page(await conversation(hit, superseded === true), pager)
        return true
      },
    },
    pull_updates: {
      options: [["--follow", "keep printing new updates until Ctrl-C"]],
      async fill(given, { json }) {
        const { target, follow } = given
        if (target === undefined)
          throw new Failure("bad_input", "missing team: throughline updates <team>", { parameter: "target" })
        if (follow !== true) return given
        await followUpdates({ call, caller, input: given, json })
        return undefined
      },
    },
    "permissions.list": {
      options: [["--watch", "prompt for an answer to each request as it arrives"]],
      fill: async (given) => (given.watch === true ? watchPermissions({ call, caller }) : given),
    },
    teams_ask: {
      options: [],
      async fill(given, { json }) {
        const { team, question, timeout } = given
        if (team === undefined || question === undefined)
          throw new Failure("bad_input", "missing team or question: throughline ask <team> <question>", {
            parameter: team === undefined ? "team" : "question",
          })
        // Programs get the complete answer, and callers that do not wait get no prompts.
        if (json || timeout === 0) return given
        await followAsk({ call, caller, input: given })
        return undefined
      },
    },
    resume: {
      options: [["--run", "start the agent"]],
      async fill(given) {
        // Without a terminal it resumes this project's newest session.
        if (given.which !== undefined || !isAtTerminal()) return given
        const which = await pick()
        return which === undefined ? undefined : { ...given, which, run: true }
      },
      after: async (output, { run }) => (run === true ? resumeAgent(output) : false),
    },
  }

  async function conversation(
    { sessionId, exchangeId, kind }: OutputOf<"search">["hits"][number],
    superseded: boolean,
  ) {
    const { sessionsShow } = await import("../../operations/sessions.ts")
    const input = { sessionId, superseded, ...(kind === "thought" ? {} : { exchange: exchangeId }) }
    return `${visible(sessionsShow.text(await client(call, caller)("sessions.show", input), input))}\n`
  }
}

const OFFERED = 30

/** The newest sessions, or those that match the typed words. Each session once. */
function offerOf(call: Call, caller: Caller, filters: Given): Offer {
  const ask = client(call, caller)
  const isNarrowed = Object.keys(filters).length > 0
  return async (typed) => {
    if (typed.trim() !== "") {
      // The last word may still be incomplete.
      const query = /[\p{L}\p{N}_]$/u.test(typed) ? `${typed}*` : typed
      const { hits, notes } = await ask("search", { limit: OFFERED, ...filters, query })
      const first = hits.filter((hit, at) => hits.findIndex(({ sessionId }) => sessionId === hit.sessionId) === at)
      const none = hits.length === 0 ? ["No results."] : []
      return {
        choices: first.map((hit) => choiceOf(hit.sessionId, hit, hit.at, hit.project, hit.snippet)),
        note: [...none, ...notes].join(" ") || undefined,
      }
    }
    if (isNarrowed) return { choices: [], note: "Type to search." }
    const { sessions } = await ask("sessions.list", { limit: OFFERED })
    const choices = sessions.flatMap(({ id, updatedAt, mcpRootUri, resumeCommand, ...session }) =>
      resumeCommand === undefined ? [] : [choiceOf(id, session, updatedAt, mcpRootUri, resumeCommand)],
    )
    return { choices, note: choices.length === 0 ? NOTHING_YET : undefined }
  }
}

const NOTHING_YET =
  "No sessions yet. Conversations are imported automatically; `throughline sources` lists the agents being watched."

function choiceOf(
  id: string,
  { title, platform }: { title: string; platform: string },
  at: string,
  project: string | undefined,
  preview: string,
): Choice {
  return { id, title, about: [minute(at), platform, projectName(project)], preview }
}
