import { join } from "node:path"
import type { Command } from "commander"
import { neededAgent } from "../../domain/agent-names.ts"
import { systemClock } from "../../lib/clock.ts"
import { counted, table } from "../../operations/text.ts"
import type { AgentState, Change, Setup } from "../../setup/module.ts"
import { ownProgram } from "../own-program.ts"
import { recordCommand } from "../wiring/command-audit.ts"
import type { CommandContext } from "./context.ts"
import { isAtTerminal } from "./terminal.ts"

interface Flags {
  all?: boolean
  yes?: boolean
  json?: boolean
  diff?: boolean
  allowTools?: boolean
}

interface Work {
  agent: AgentState
  changes: Change[]
}

/**
 * Commands, not operations: they change files by the environment of the shell they are typed in, which decides where
 * agents keep their settings, and they need no daemon.
 */
export function addSetupCommands(program: Command, context: CommandContext): void {
  const command = (name: string, description: string) =>
    program
      .command(`${name} [agent]`)
      .description(description)
      .option("--all", "every installed agent")
      .option("--yes", "skip the confirmation")
      .option("--diff", "show every changed line")
      .option("--json", "print the changes as JSON; with --yes, apply them")

  command("setup", "Connect agents: install Throughline's hooks and tools")
    .option("--allow-tools", "allow Throughline's own tools without asking each time")
    .action(async (agent: string | undefined, flags: Flags) => {
      let [setup, allowsTools] = [await load(context, flags), flags.allowTools === true]
      const states = setup.agents()
      const isMeant = ({ found, state }: AgentState) => found && state !== "ready"
      const chosen = choose(states, agent, flags, isMeant)
      const offered = chosen || flags.json ? [] : choose(states, undefined, { all: true }, isMeant)!
      // Without arguments, a person at a terminal is guided through setup.
      const isGuided = offered.length > 0 && isAtTerminal()
      if (!chosen) context.write(overview(states, flags, { isGuided, isReady: offered.length === 0 }))
      if (!chosen && !isGuided) return
      const works = (chosen ?? offered).map((one) => ({ agent: one, changes: setup.plan(one.platform) }))
      const apply = ({ platform }: AgentState) => setup.apply(platform)
      const question = isGuided ? "Set them up?" : "Change these files?"
      const plan = flags.diff ? planText : shortPlan("setup")
      const mayAsk = !flags.allowTools && works.some((work) => work.agent.canAllowTools && work.changes.length > 0)
      const agreed = async () => {
        // Without the rule, each tool call needs approval. It covers our own server only.
        if (!mayAsk || !(await context.confirm("Allow Throughline's own tools without asking each time?"))) return
        setup = await load(context, { allowTools: true })
        allowsTools = true
      }
      const recorded = () => ({ what: "setup", data: { allowsTools } })
      await carryOut(works, flags, context, { question, apply, plan, done: setUpText, agreed, recorded })
    })

  command("unsetup", "Undo setup").action(async (agent: string | undefined, flags: Flags) => {
    const setup = await load(context)
    const states = setup.agents()
    const chosen = choose(states, agent, flags, ({ state }) => state === "ready" || state === "partly")
    if (!chosen) return context.write(overview(states, flags, { isGuided: false, isReady: false }))
    const works = chosen.map((one) => ({ agent: one, changes: setup.planUndo(one.platform) }))
    const apply = ({ platform }: AgentState) => setup.undo(platform)
    await carryOut(works, flags, context, {
      question: "Change these files back?",
      apply,
      plan: flags.diff ? planText : shortPlan("unsetup"),
      done: undoneText,
      recorded: () => ({ what: "unsetup", data: {} }),
    })
  })
}

/** The agents that are meant. Undefined if none is named: then the overview is shown. */
function choose(
  states: AgentState[],
  agent: string | undefined,
  { all }: Flags,
  isMeant: (state: AgentState) => boolean,
): AgentState[] | undefined {
  if (agent === undefined) return all ? states.filter((state) => !state.onlyNamed && isMeant(state)) : undefined
  const known = states.map(({ platform, label }) => ({ id: platform, label }))
  const id = neededAgent(known, agent, "agent")
  return states.filter(({ platform }) => platform === id)
}

async function carryOut(
  works: Work[],
  { yes, json }: Flags,
  context: CommandContext,
  act: {
    question: string
    apply(agent: AgentState): Change[]
    plan(work: Work): string
    done(work: Work): string
    /** Called after a person has agreed, before anything is changed. */
    agreed?(): Promise<void>
    /** For the audit. */
    recorded(): { what: string; data: Record<string, unknown> }
  },
): Promise<void> {
  const { write, confirm } = context
  const todo = works.filter(({ changes }) => changes.length > 0)
  const isAnswered = json || todo.length === 0
  if (!isAnswered) write(`${todo.map(act.plan).join("\n\n")}\n\n`)
  const goesAhead = yes || (!isAnswered && (await confirm(act.question)))
  if (goesAhead && !yes) await act.agreed?.()
  if (goesAhead && todo.length > 0) {
    const { what, data } = act.recorded()
    recordCommand(context, what, { agents: todo.map(({ agent }) => agent.platform), ...data })
  }
  // Even with nothing to change: the hook script may be outdated.
  const done = goesAhead ? works.map(({ agent }) => ({ agent, changes: act.apply(agent) })) : works
  if (json)
    write(
      `${JSON.stringify(
        done.map((work) => view(work, goesAhead === true)),
        null,
        2,
      )}\n`,
    )
  else if (todo.length === 0) write(`${works.length === 0 ? "No agent was found." : "Nothing to change."}\n`)
  else write(goesAhead ? `${done.map(act.done).join("\n")}\n` : "Nothing was changed.\n")
}

function view({ agent, changes }: Work, applied: boolean) {
  const { platform, label, afterwards } = agent
  return { platform, label, applied, changes, ...(afterwards === undefined ? {} : { afterwards }) }
}

function planText({ agent, changes }: Work): string {
  const parts = changes.map(({ path, summary, kind, diff }) => `${kind} ${path}: ${summary}\n${indented(diff)}`)
  return [`# ${agent.label}`, ...parts].join("\n")
}

/** A summary; --diff shows the hundreds of changed lines. */
const shortPlan =
  (command: string) =>
  ({ agent, changes }: Work): string => {
    const parts = changes.map(
      ({ path, summary, kind, diff }) => `  ${kind} ${path}: ${summary} (${changedLines(diff)})`,
    )
    return [`# ${agent.label} (line by line: throughline ${command} ${agent.platform} --diff)`, ...parts].join("\n")
  }

function changedLines(diff: string): string {
  const count = (mark: string) => diff.split("\n").filter((line) => line.startsWith(mark)).length
  return `+${count("+")} −${count("-")} lines`
}

function setUpText({ agent }: Work): string {
  const after = agent.afterwards === undefined ? "" : `\n  ${agent.afterwards}`
  return `${agent.label} is set up; sessions that run already may need a restart. Undo: throughline unsetup ${agent.platform}${after}`
}

function undoneText({ agent, changes }: Work): string {
  const restored = changes.filter(({ kind }) => kind === "restore" || kind === "delete").length
  return `${agent.label}: ${counted(restored, "file")} restored, ${counted(changes.length - restored, "file")} without our entries.`
}

function overview(states: AgentState[], { json }: Flags, now: { isGuided: boolean; isReady: boolean }): string {
  if (json) return `${JSON.stringify(states, null, 2)}\n`
  const rows = states.map(({ platform, label, found, state, awaits }) => [
    platform,
    label,
    found ? "yes" : "no",
    awaits === undefined ? state : `${state}, but ${awaits}`,
  ])
  const waiting = states.filter(({ awaits, afterwards }) => awaits !== undefined && afterwards !== undefined)
  const found = states.some((one) => one.found && !one.onlyNamed)
  const next = now.isGuided
    ? "This installs Throughline's hooks and tools. Each original file is backed up, and this can be undone."
    : now.isReady && found
      ? "All installed agents are set up. To undo it: throughline unsetup claude-code"
      : "Name one, or --all: throughline setup claude-code"
  const todo = waiting.map(({ label, afterwards }) => `${label}: ${afterwards}\n\n`).join("")
  return `${table(["NAME", "AGENT", "FOUND HERE", "STATE"], rows)}\n\n${todo}${next}\n${now.isGuided ? "\n" : ""}`
}

const indented = (text: string) => text.replaceAll(/^/gm, "    ")

/** Installed agents that do not use Throughline yet. */
export async function agentsNotSetUp(context: Pick<CommandContext, "home" | "environment">): Promise<AgentState[]> {
  const setup = await load(context)
  return setup.agents().filter(({ found, state, onlyNamed }) => found && state !== "ready" && !onlyNamed)
}

/** Loaded on demand: other commands start faster without it. */
async function load(
  { home, environment }: Pick<CommandContext, "home" | "environment">,
  { allowTools }: Pick<Flags, "allowTools"> = {},
): Promise<Setup> {
  const [{ agentSetups }, { projectRules }, { makeSetup }] = await Promise.all([
    import("../../agents/list.ts"),
    import("../../agents/shared/setup/rules.ts"),
    import("../../setup/module.ts"),
  ])
  const usual = join(environment.homeDir, ".throughline")
  return makeSetup({
    agents: [...agentSetups, ...projectRules(environment.cwd)],
    machine: environment.machine,
    clock: systemClock,
    program: {
      ...ownProgram(),
      hook: home.hook,
      env: home.dir === usual ? {} : { THROUGHLINE_HOME: home.dir },
      ...(allowTools === undefined ? {} : { allowTools }),
    },
    places: {
      hook: home.hook,
      spoolDir: home.spool,
      socket: home.socket,
      backupsDir: home.backups,
      record: home.setup,
    },
  })
}
