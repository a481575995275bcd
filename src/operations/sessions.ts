import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { withoutScope } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Turn } from "../domain/turn.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import { AGENTS_WRITE, ANYONE_READS, operation, PAGES_READ } from "./operation.ts"
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

const sessionId = z.string().min(1).describe("Session id, or a unique prefix of it")
const OneSession = z.object({ session: SessionView })
const changed = async (session: Promise<Session>) => ({ session: viewSession(await session) })

export const sessionsList = operation({
  name: "sessions.list",
  summary: "List the sessions of every agent, newest first",
  ...ANYONE_READS,
  command: "sessions",
  input: z.strictObject({
    root: z.string().min(1).optional().describe("Only this project (folder or file:// URI)"),
    platform: z.string().min(1).optional().describe("Only this agent, such as claude-code or codex"),
    domain: z.string().min(1).optional().describe("Only this domain of reasoning, as its agent named it"),
    subagents: z.boolean().default(false).describe("Include sub-agents"),
    empty: z.boolean().default(false).describe("Include empty sessions"),
    archived: z.boolean().default(false).describe("Only archived sessions"),
    limit: z.int().min(1).max(1000).default(50).describe("Maximum number of results"),
  }),
  output: z.object({ sessions: z.array(ConversationView), more: z.boolean() }),
  text: ({ sessions, more }, { archived }) =>
    sessions.length === 0
      ? archived
        ? "No archived sessions."
        : "No sessions yet. Conversations are imported automatically; `throughline sources` lists the agents being watched."
      : `${conversationTable(sessions)}${more ? "\n(more available: use --limit)" : ""}`,
  async run({ sessions, capture }, { root, platform, domain, subagents, empty, archived, limit }) {
    const project = root === undefined ? undefined : await sessions.projects.find(root)
    if (project && !project.project) return { sessions: [], more: false }
    const found = await sessions.list({
      ...{ archived, limit: limit + 1 },
      ...(empty ? {} : { empty: false }),
      ...(subagents ? {} : { subagents: false }),
      ...present({ projectId: project?.project?.id, platform: platformNamed(capture, platform), domain }),
    })
    const views = found.slice(0, limit).map((session) => viewConversation(session, capture.resumeCommand(session)))
    return { sessions: views, more: found.length > limit }
  },
})

export const sessionsShow = operation({
  name: "sessions.show",
  summary: "Show a session: its conversation, thoughts and branches, and how to resume it",
  ...ANYONE_READS,
  positional: ["sessionId"],
  input: z.strictObject({
    sessionId,
    exchange: z
      .string()
      .regex(/^\d+$/)
      .optional()
      .describe("Only this exchange, by its id in search results, with the ones before and after"),
    superseded: z.boolean().default(false).describe("Include rewound or rewritten turns"),
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
      ...lineage.map(({ kind, parentNativeId }) => `From:    ${parentNativeId} (${kind})`),
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
  summary: "Show a session's outline: the beginning of each turn, its thoughts, and related sessions",
  ...PAGES_READ,
  input: z.strictObject({
    sessionId,
    superseded: z.boolean().default(false).describe("Include rewound turns"),
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
      lineage: relatives.map(({ kind, isParent, session: { id, title, platform }, atMs }) => ({
        ...{ kind, isParent, at: isoTime(atMs), sessionId: id, title, platform },
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
  summary: "Return turns of a session in full, by their ids from sessions.outline",
  ...PAGES_READ,
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

/** An exchange with its neighbours. A missing one is an error: the id belongs to another session. */
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
  summary: "Rename a session",
  ...AGENTS_WRITE,
  positional: ["sessionId", "title"],
  input: z.strictObject({ sessionId, title: z.string().trim().min(1).max(200).describe("The new title") }),
  output: OneSession,
  text: ({ session }) => `Renamed: ${sessionLine(session)}`,
  run: async ({ sessions, capture }, { sessionId, title }, caller) =>
    changed(sessions.edits.rename(await sessionIdOf({ sessions, capture }, sessionId, caller), { title })),
})

export const sessionsPin = operation({
  name: "sessions.pin",
  summary: "Make this the session the project resumes by default",
  ...AGENTS_WRITE,
  positional: ["sessionId"],
  input: z.strictObject({ sessionId, off: z.boolean().default(false).describe("Unpin it") }),
  output: OneSession,
  text: ({ session }) => `${session.pinned ? "Pinned" : "Unpinned"}: ${sessionLine(session)}`,
  run: async ({ sessions, capture }, { sessionId, off }, caller) =>
    changed(sessions.edits.pin(await sessionIdOf({ sessions, capture }, sessionId, caller), !off)),
})

export const sessionsArchive = operation({
  name: "sessions.archive",
  summary: "Archive a session; it stays loadable by its id",
  ...AGENTS_WRITE,
  positional: ["sessionId"],
  input: z.strictObject({ sessionId, off: z.boolean().default(false).describe("Restore it") }),
  output: OneSession,
  text: ({ session }) => `${session.archived ? "Archived" : "Restored"}: ${sessionLine(session)}`,
  run: async ({ sessions, capture }, { sessionId, off }, caller) =>
    changed(sessions.edits.archive(await sessionIdOf({ sessions, capture }, sessionId, caller), !off)),
})

export const sessionsLink = operation({
  name: "sessions.link",
  summary: "Link a session to another project",
  ...AGENTS_WRITE,
  positional: ["sessionId", "root"],
  input: z.strictObject({ sessionId, root: z.string().min(1).describe("Folder or file:// URI") }),
  output: z.object({ session: SessionView, rootUri: z.string() }),
  text: ({ session, rootUri }) => `${sessionLine(session)} now also belongs to ${rootUri}`,
  async run({ sessions, capture }, { sessionId, root }, caller) {
    const linked = await sessions.edits.linkRoot(await sessionIdOf({ sessions, capture }, sessionId, caller), root)
    return { session: viewSession(linked.session), rootUri: linked.rootUri }
  },
})

export const sessionsExport = operation({
  name: "sessions.export",
  summary: "Export a session (conversation, thoughts and branches) as Markdown or JSON",
  ...ANYONE_READS,
  positional: ["sessionId"],
  input: z.strictObject({
    sessionId,
    format: z.enum(["markdown", "json"]).default("markdown").describe("markdown or json"),
  }),
  output: z.object({ sessionId: z.string(), format: z.string(), content: z.string() }),
  text: ({ content }) => content.trimEnd(),
  async run({ sessions, capture }, { sessionId, format }, caller) {
    const whole = await sessions.whole(await sessionIdOf({ sessions, capture }, sessionId, caller))
    const asJson = () => ({
      version: 1,
      session: { ...viewSession(whole.session), ...markOf(whole.session) },
      linkedRoots: whole.linkedRoots,
      turns: whole.turns.map(viewTurn),
      ...viewThoughts(whole.thoughts),
    })
    const content = format === "json" ? `${JSON.stringify(asJson(), null, 2)}\n` : sessions.markdown(whole)
    return { sessionId: whole.session.id, format, content }
  },
})
