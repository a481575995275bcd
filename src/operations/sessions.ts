import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { withoutScope } from "../domain/ids.ts"
import type { Turn } from "../domain/turn.ts"
import { operation } from "./operation.ts"
import { sessionIdOf } from "./session-of.ts"
import { platformNamed } from "./sources.ts"
import { conversationLine, conversationTable, counted, runLine, sessionLine, thoughtLines, turnLines } from "./text.ts"
import {
  ConversationView,
  markOf,
  RelativeView,
  RunView,
  SessionView,
  ThoughtView,
  TurnView,
  viewConversation,
  viewRun,
  viewSession,
  viewThoughts,
  viewTurn,
} from "./views.ts"

const sessionId = z.string().min(1).describe("Session id, or a unique beginning of it")
const OneSession = z.object({ session: SessionView })

export const sessionsList = operation({
  name: "sessions.list",
  summary: "List the sessions of every agent, newest first",
  effect: "read",
  access: "anyone",
  on: ["cli", "http"],
  command: "sessions",
  input: z.strictObject({
    root: z.string().min(1).optional().describe("Only this project (folder or file:// URI)"),
    platform: z.string().min(1).optional().describe("Only this agent, such as claude-code or codex"),
    domain: z.string().min(1).optional().describe("Only reasoning about this, as its agent named it"),
    subagents: z.boolean().default(false).describe("Sub-agents as well"),
    empty: z.boolean().default(false).describe("Also those in which nothing was said"),
    archived: z.boolean().default(false).describe("Only those in the archive"),
    limit: z.int().min(1).max(1000).default(50).describe("How many at the most"),
  }),
  output: z.object({ sessions: z.array(ConversationView), more: z.boolean() }),
  text: ({ sessions, more }, { archived }) =>
    sessions.length === 0
      ? archived
        ? "Nothing is archived."
        : "No sessions yet. Conversations of the agents on this machine appear by themselves; `throughline sources` shows what is looked at."
      : `${conversationTable(sessions)}${more ? "\n(there are more: raise --limit)" : ""}`,
  async run({ sessions, capture }, { root, platform, domain, subagents, empty, archived, limit }) {
    const project = root === undefined ? undefined : await sessions.projects.find(root)
    if (project && !project.project) return { sessions: [], more: false }
    const found = await sessions.list({
      archived,
      limit: limit + 1,
      ...(empty ? {} : { empty: false }),
      ...(project?.project ? { projectId: project.project.id } : {}),
      ...(platform === undefined ? {} : { platform: platformNamed(capture, platform)! }),
      ...(domain === undefined ? {} : { domain }),
      ...(subagents ? {} : { subagents: false }),
    })
    const views = found.slice(0, limit).map((session) => viewConversation(session, capture.resumeCommand(session)))
    return { sessions: views, more: found.length > limit }
  },
})

export const sessionsShow = operation({
  name: "sessions.show",
  summary: "Show a session: its conversation, its thoughts and branches, and how to go on with it",
  effect: "read",
  access: "anyone",
  on: ["cli", "http"],
  positional: ["sessionId"],
  input: z.strictObject({
    sessionId,
    exchange: z
      .string()
      .regex(/^\d+$/)
      .optional()
      .describe("Only this exchange, by the id that search gives, with those before and after it"),
    superseded: z.boolean().default(false).describe("Also what the agent took back: rewound or rewritten turns"),
  }),
  output: z.object({
    session: ConversationView,
    linkedRoots: z.array(z.string()),
    lineage: z.array(z.object({ kind: z.string(), parentNativeId: z.string() })),
    runs: z.array(RunView),
    turns: z.array(TurnView),
    thoughts: z.array(ThoughtView),
    branches: z.record(z.string(), z.array(ThoughtView)),
  }),
  text: ({ session, linkedRoots, lineage, runs, turns, thoughts, branches }) =>
    [
      conversationLine(session),
      `Project: ${session.mcpRootUri ?? "-"}${linkedRoots.map((uri) => `, also ${uri}`).join("")}`,
      ...lineage.map(({ kind, parentNativeId }) => `Comes from: ${parentNativeId} (${kind})`),
      ...runs.map(runLine),
      ...(session.resumeCommand === undefined ? [] : [`Resume:  ${session.resumeCommand}`]),
      "",
      ...turnLines(turns),
      ...thoughtLines(thoughts),
      ...Object.entries(branches).flatMap(([id, members]) => [
        "",
        `Branch ${id} (from thought ${members[0]?.branchFromThought}):`,
        ...thoughtLines(members),
      ]),
    ].join("\n"),
  async run({ sessions, capture }, { sessionId, exchange, superseded }, caller) {
    const whole = await sessions.whole(await sessionIdOf({ sessions, capture }, sessionId, caller), { superseded })
    const { session, linkedRoots, thoughts, edges, runs } = whole
    const turns = exchange === undefined ? whole.turns : around(whole.turns, Number(exchange))
    return {
      session: viewConversation(session, capture.resumeCommand(session)),
      linkedRoots,
      lineage: edges.map(({ kind, parentNativeId }) => ({ kind, parentNativeId: withoutScope(parentNativeId) })),
      runs: runs.map(viewRun),
      turns: turns.map(viewTurn),
      ...viewThoughts(thoughts),
    }
  },
})

const HEAD_CHARS = 240

export const sessionsOutline = operation({
  name: "sessions.outline",
  summary: "Show what a session is made of: each turn by its beginning, its thoughts, where it comes from and went",
  effect: "read",
  access: "anyone",
  on: ["http"],
  input: z.strictObject({
    sessionId,
    superseded: z.boolean().default(false).describe("Also what the agent took back"),
  }),
  output: z.object({
    session: ConversationView,
    lineage: z.array(RelativeView),
    runs: z.array(RunView),
    turns: z.array(TurnView.omit({ text: true }).extend({ head: z.string(), isCut: z.boolean().optional() })),
    thoughts: z.array(ThoughtView),
    branches: z.record(z.string(), z.array(ThoughtView)),
  }),
  text: ({ session, turns }) => `${conversationLine(session)}\n${counted(turns.length, "turn")}`,
  async run({ sessions, capture }, { sessionId: given, superseded }, caller) {
    const sessionId = await sessionIdOf({ sessions, capture }, given, caller)
    const { session, relatives, runs, turns, thoughts } = await sessions.outline(sessionId, {
      superseded,
      maxChars: HEAD_CHARS,
    })
    return {
      session: viewConversation(session, capture.resumeCommand(session)),
      lineage: relatives.map(({ kind, isParent, session: other, atMs }) => ({
        kind,
        isParent,
        at: new Date(atMs).toISOString(),
        sessionId: other.id,
        title: other.title,
        platform: other.platform,
      })),
      runs: runs.map(viewRun),
      turns: turns.map((turn) => {
        const { text, ...rest } = viewTurn(turn)
        return { ...rest, head: text, ...(text.length >= HEAD_CHARS && { isCut: true }) }
      }),
      ...viewThoughts(thoughts),
    }
  },
})

export const sessionsTurns = operation({
  name: "sessions.turns",
  summary: "Return turns of a session whole, by the ids that sessions.outline gives",
  effect: "read",
  access: "anyone",
  on: ["http"],
  input: z.strictObject({
    sessionId,
    ids: z.array(z.int().min(1)).min(1).max(200).describe("Which turns"),
  }),
  output: z.object({ turns: z.array(TurnView) }),
  text: ({ turns }) => turnLines(turns).join("\n"),
  async run({ sessions, capture }, { sessionId: given, ids }, caller) {
    const sessionId = await sessionIdOf({ sessions, capture }, given, caller)
    return { turns: (await sessions.turns(sessionId, ids)).map(viewTurn) }
  },
})

/** An exchange with its neighbours. One that is not there is an error: the id is of another session. */
function around(turns: Turn[], seq: number): Turn[] {
  const at = turns.findIndex((turn) => turn.seq === seq)
  if (at < 0)
    throw new Failure("bad_input", `this session has no exchange ${seq}`, { parameter: "exchange", value: seq })
  const isPrompt = (turn: Turn) => turn.kind === "prompt"
  const before = turns.slice(0, at).findLastIndex(isPrompt)
  const next = turns.findIndex((turn, index) => index > at && isPrompt(turn))
  const end = next < 0 ? -1 : turns.findIndex((turn, index) => index > next && isPrompt(turn))
  return turns.slice(Math.max(0, before), end < 0 ? undefined : end)
}

export const sessionsRename = operation({
  name: "sessions.rename",
  summary: "Give a session another title",
  effect: "write",
  access: "agent",
  on: ["cli", "http"],
  positional: ["sessionId", "title"],
  input: z.strictObject({ sessionId, title: z.string().trim().min(1).max(200).describe("The new title") }),
  output: OneSession,
  text: ({ session }) => `Renamed: ${sessionLine(session)}`,
  run: async ({ sessions, capture }, { sessionId, title }, caller) => ({
    session: viewSession(
      await sessions.keeping.rename(await sessionIdOf({ sessions, capture }, sessionId, caller), { title }),
    ),
  }),
})

export const sessionsPin = operation({
  name: "sessions.pin",
  summary: "Make a session the one that its project recovers",
  effect: "write",
  access: "agent",
  on: ["cli", "http"],
  positional: ["sessionId"],
  input: z.strictObject({ sessionId, off: z.boolean().default(false).describe("Unpin it") }),
  output: OneSession,
  text: ({ session }) => `${session.pinned ? "Pinned" : "Unpinned"}: ${sessionLine(session)}`,
  run: async ({ sessions, capture }, { sessionId, off }, caller) => ({
    session: viewSession(await sessions.keeping.pin(await sessionIdOf({ sessions, capture }, sessionId, caller), !off)),
  }),
})

export const sessionsArchive = operation({
  name: "sessions.archive",
  summary: "Put a session into the archive; it stays loadable by its id",
  effect: "write",
  access: "agent",
  on: ["cli", "http"],
  positional: ["sessionId"],
  input: z.strictObject({ sessionId, off: z.boolean().default(false).describe("Bring it back") }),
  output: OneSession,
  text: ({ session }) => `${session.archived ? "Archived" : "Back from the archive"}: ${sessionLine(session)}`,
  run: async ({ sessions, capture }, { sessionId, off }, caller) => ({
    session: viewSession(
      await sessions.keeping.archive(await sessionIdOf({ sessions, capture }, sessionId, caller), !off),
    ),
  }),
})

export const sessionsLink = operation({
  name: "sessions.link",
  summary: "Let a session belong to one more project",
  effect: "write",
  access: "agent",
  on: ["cli", "http"],
  positional: ["sessionId", "root"],
  input: z.strictObject({ sessionId, root: z.string().min(1).describe("Folder or file:// URI") }),
  output: z.object({ session: SessionView, rootUri: z.string() }),
  text: ({ session, rootUri }) => `${sessionLine(session)} now also belongs to ${rootUri}`,
  async run({ sessions, capture }, { sessionId, root }, caller) {
    const linked = await sessions.keeping.linkRoot(await sessionIdOf({ sessions, capture }, sessionId, caller), root)
    return { session: viewSession(linked.session), rootUri: linked.rootUri }
  },
})

export const sessionsExport = operation({
  name: "sessions.export",
  summary: "Print a whole session, conversation, thoughts and branches, as markdown or JSON",
  effect: "read",
  access: "anyone",
  on: ["cli", "http"],
  positional: ["sessionId"],
  input: z.strictObject({
    sessionId,
    format: z.enum(["markdown", "json"]).default("markdown").describe("markdown or json"),
  }),
  output: z.object({ sessionId: z.string(), format: z.string(), content: z.string() }),
  text: ({ content }) => content.trimEnd(),
  async run({ sessions, capture }, { sessionId, format }, caller) {
    const whole = await sessions.whole(await sessionIdOf({ sessions, capture }, sessionId, caller))
    const asJson = () =>
      JSON.stringify(
        {
          version: 1,
          session: { ...viewSession(whole.session), ...markOf(whole.session) },
          linkedRoots: whole.linkedRoots,
          turns: whole.turns.map(viewTurn),
          ...viewThoughts(whole.thoughts),
        },
        null,
        2,
      )
    return {
      sessionId: whole.session.id,
      format,
      content: format === "json" ? `${asJson()}\n` : sessions.markdown(whole),
    }
  },
})
