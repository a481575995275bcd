import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import type { TargetStatus } from "../domain/messages.ts"
import type { Team } from "../domain/team.ts"
import { present } from "../lib/defined.ts"
import type { SupervisedState } from "../live/supervisor/supervisor.ts"
import { visible } from "./columns.ts"
import { ANYONE_READS, OWNER_WRITES, operation } from "./operation.ts"
import { clip, coloured, fetchNote, table } from "./text.ts"
import { HOOKLESS_VIEW, hooklessView } from "./views.ts"

const name = z.string().min(1).describe("The team's name")
const replace = z.boolean().default(false).describe("Replace an existing one")

export const TeamView = z.object({
  name: z.string(),
  project: z.string(),
  platform: z.string(),
  description: z.string().optional(),
  permissionMode: z.string(),
  whenAway: z.string(),
  color: z.string().optional(),
  chat: z.object({ id: z.string(), thread: z.number().optional() }).optional(),
  /** The state of its session, and whether it is supervised. */
  state: z.string(),
  kept: z.boolean(),
  ...HOOKLESS_VIEW,
  /** Pending messages. */
  waiting: z.number().optional(),
  note: z.string().optional(),
  attach: z.string().optional(),
})

export const teamsList = operation({
  name: "teams.list",
  summary: "List the teams and whether their sessions are supervised",
  ...ANYONE_READS,
  command: ["teams", "teams list"],
  input: z.strictObject({}),
  output: z.object({ teams: z.array(TeamView), troubles: z.array(z.string()) }),
  text: ({ teams, troubles }) => [teamTable(teams), ...troubles.map(troubleLine)].join("\n"),
  styled({ teams, troubles }, style) {
    const list = visible(teamTable(teams))
    const colours = teams.map(({ color }) => color)
    const isPlain = colours.every((color) => color === undefined)
    return [isPlain ? list : coloured(list, colours, style), ...troubles.map(troubleLine).map(visible)].join("\n")
  },
  async run({ teams, supervisor, reach }) {
    const states = await supervisor.states()
    const queues = await reach.messages.status()
    const known = teams.roster.list().map((team) =>
      view(
        team,
        states.find((state) => state.team === team.name),
        queues.find(({ target }) => target === team.name),
      ),
    )
    const lost = states.filter((state) => state.isSupervised && !teams.roster.byName(state.team))
    return {
      teams: known,
      troubles: [
        ...teams.roster.troubles(),
        ...lost.map(({ team, note }) => `${team}: ${note} (throughline down ${team})`),
      ],
    }
  },
})

/** One line per team, even if its note has several. */
function teamTable(teams: z.output<typeof TeamView>[]): string {
  if (teams.length === 0)
    return "No teams yet: throughline teams add <name> --project <folder>, or throughline teams import <file>."
  const hasColour = teams.some(({ color }) => color !== undefined)
  const rows = teams.map((team) => [
    team.name,
    team.platform,
    team.fetches && !team.kept ? "not seen" : `${STATES[team.state] ?? team.state}${team.kept ? " (supervised)" : ""}`,
    ...(hasColour ? [team.color ?? "-"] : []),
    team.project,
    clip(team.note ?? (team.fetches ? fetchNote(team) : (team.description ?? "")), MOST_NOTE_CHARS),
  ])
  return table(["NAME", "AGENT", "SESSION", ...(hasColour ? ["COLOR"] : []), "PROJECT", "NOTE"], rows)
}

const STATES: Record<string, string> = { up: "running", down: "stopped" }
const MOST_NOTE_CHARS = 1_000
const troubleLine = (trouble: string) => `! ${trouble}`

export const teamsAdd = operation({
  name: "teams.add",
  summary: "Add a team: a name for a project and its agent",
  ...OWNER_WRITES,
  positional: ["name", "project"],
  flags: { project: "project" },
  input: z.strictObject({
    name,
    project: z.string().min(1).describe("The folder it works in"),
    platform: z.string().optional().describe("Its agent (default claude-code)"),
    program: z.string().optional().describe("Path to the agent's program, if not on the PATH"),
    description: z.string().optional().describe("What it does"),
    skipPermissions: z.boolean().optional().describe("Let the agent act without asking for permission"),
    permissionMode: z.string().optional().describe("Permission mode of the sessions Throughline starts"),
    whenAway: z
      .enum(["keep", "resume", "start"])
      .optional()
      .describe("For messages while no session runs: keep them, resume the last session, or start a new one"),
    color: z.string().optional().describe("Colour, such as #E91E63 or crimson"),
    chatId: z.string().optional().describe("Id of the team's own Telegram group"),
    claudeMd: z.string().optional().describe("File with instructions for the sessions Throughline starts"),
    settings: z.string().optional().describe("File with agent settings for the sessions Throughline starts"),
    sessionFile: z
      .string()
      .optional()
      .describe("For agents without hooks: the file in which the agent reports its session"),
    taskStateFile: z.boolean().optional().describe("Also write .claude-session-state.json in the project"),
    idleTimeout: z.int().optional().describe("Idle milliseconds after which a session started for a message is ended"),
    replace,
  }),
  output: z.object({ team: TeamView }),
  text: ({ team }) => `${team.name} works in ${team.project} (${team.platform}). Next: throughline up ${team.name}`,
  async run({ teams }, { name, replace, chatId, claudeMd, sessionFile, ...keys }, caller) {
    const said = Object.entries({
      ...keys,
      chat: chatId === undefined ? undefined : { id: chatId },
      claude_md: claudeMd,
      session_file: sessionFile,
    }).filter(([, value]) => value !== undefined)
    const team = teams.add(caller, name, { project: keys.project, ...Object.fromEntries(said) }, { replace })
    return { team: view(team) }
  },
})

export const teamsRemove = operation({
  name: "teams.remove",
  summary: "Remove a team and stop its supervised session; conversations stay",
  effect: "destroy",
  access: "owner",
  on: ["cli", "http"],
  positional: ["name"],
  input: z.strictObject({ name }),
  output: z.object({ removed: z.string() }),
  text: ({ removed }) => `Removed team ${removed}.`,
  async run({ teams, supervisor, telegram }, { name }) {
    teams.remove(name)
    await telegram.removeTeam(name)
    // Afterwards its name no longer works.
    await supervisor.down(name)
    return { removed: name }
  },
})

export const teamsImport = operation({
  name: "teams.import",
  summary: "Import teams and settings from a Nexus chat map or an Iris teams.json",
  ...OWNER_WRITES,
  positional: ["file"],
  input: z.strictObject({ file: z.string().min(1).describe("The file, as JSON"), replace }),
  output: z.object({
    from: z.string(),
    added: z.array(z.string()),
    replaced: z.array(z.string()),
    settings: z.array(z.object({ what: z.string(), key: z.string(), value: z.unknown() })),
    skipped: z.array(z.object({ what: z.string(), why: z.string() })),
  }),
  text: ({ from, added, replaced, settings, skipped }) =>
    [
      `${from}: ${added.length} added${added.length > 0 ? ` (${added.join(", ")})` : ""}, ${replaced.length} replaced${replaced.length > 0 ? ` (${replaced.join(", ")})` : ""}.`,
      ...settings.map(
        ({ key, value }) => `  set: ${key} = ${JSON.stringify(value)}${key.startsWith("teams.") ? "" : RESTART}`,
      ),
      ...skipped.map(({ what, why }) => `  not taken: ${what}: ${why}`),
    ].join("\n"),
  run: async ({ teams }, { file, replace }, caller) => teams.take(caller, file, { replace }),
})

const RESTART = " (after the daemon's next start)"

export const up = operation({
  name: "up",
  summary: "Start a team's session in tmux and supervise it: it is restarted whenever it ends",
  ...OWNER_WRITES,
  positional: ["team"],
  input: z.strictObject({ team: name }),
  output: z.object({
    team: z.string(),
    how: z.enum(["resumed", "started", "running", "elsewhere"]),
    attach: z.string().optional(),
    asks: z.string().optional(),
  }),
  text: ({ team, how, attach, asks }) =>
    [
      UP[how](team),
      ...(asks === undefined ? [] : [`It asks: ${asks}`, "Only you can answer that: attach to the session."]),
      ...(attach === undefined ? [] : [`Attach:  ${attach}`]),
      `Stop:    throughline down ${team}`,
    ].join("\n"),
  async run({ supervisor }, { team }) {
    const { how, attach, asks } = await supervisor.up(team)
    return { team, how, attach, asks }
  },
})

export const down = operation({
  name: "down",
  summary: "Stop a team's supervised session",
  ...OWNER_WRITES,
  positional: ["team"],
  input: z.strictObject({ team: name }),
  output: z.object({
    team: z.string(),
    ended: z.boolean(),
    kept: z.boolean(),
    /** Why the session still takes messages with its terminal closed. */
    stillOpen: z.string().optional(),
  }),
  text: ({ team, ended, kept, stillOpen }) =>
    stillOpen !== undefined
      ? `${team}'s terminal is closed, but its session still takes messages: ${stillOpen}.`
      : ended
        ? `Stopped ${team}'s session. Resume it with: throughline up ${team}`
        : kept
          ? `${team} is no longer supervised; none of its sessions was running here.`
          : `No session of ${team} was running.`,
  async run({ supervisor, teams }, { team }) {
    const { wasSupervised, wasRunning, stillOpen } = await supervisor.down(team)
    const known = teams.roster.list().map(({ name }) => name)
    // A team removed from the configuration may still be supervised.
    if (!wasSupervised && !wasRunning && !known.includes(team))
      throw new Failure(
        "bad_input",
        `there is no team ${JSON.stringify(team)} (known: ${known.join(", ") || "none"})`,
        {
          parameter: "team",
        },
      )
    return { team, ended: wasRunning, kept: wasSupervised, stillOpen }
  },
})

const UP = {
  resumed: (team: string) => `Resumed ${team}'s last session, supervised.`,
  started: (team: string) => `Started a new session of ${team}, supervised.`,
  running: (team: string) => `${team}'s session is already running, supervised.`,
  elsewhere: (team: string) =>
    `A session of ${team} is running in another terminal; when it ends, one is started here.`,
}

function view(team: Team, kept?: SupervisedState, queue?: TargetStatus): z.output<typeof TeamView> {
  const { name, platform, permissionMode, whenAway, color, chat } = team
  return {
    ...{ name, project: team.projectDir, platform, permissionMode, whenAway },
    ...present({ description: team.description || undefined, color }),
    ...(chat && { chat: present({ id: chat.id, thread: chat.thread }) }),
    state: kept?.state ?? "down",
    kept: kept?.isSupervised ?? false,
    ...hooklessView(queue),
    ...present({ waiting: queue?.pending, note: kept?.note, attach: kept?.attach }),
  }
}
