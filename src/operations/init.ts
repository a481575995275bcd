import * as z from "zod"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { isUntrusted, UNTRUSTED_LABEL } from "../domain/origin.ts"
import type { Session } from "../domain/session.ts"
import { describe, noRoot, recovered, rootSource, shownName } from "./init-text.ts"
import { operation, TOOL_WRITES } from "./operation.ts"
import type { Services } from "./services.ts"
import { sessionOf } from "./session-of.ts"
import { counted } from "./text.ts"
import { SessionView, ThoughtView, viewSession, viewThoughts } from "./views.ts"

const Input = z.strictObject({
  operation: z
    .enum([
      "get_state",
      "list_roots",
      "bind_root",
      "list_sessions",
      "start_new",
      "load_context",
      "rename",
      "pin",
      "unpin",
      "archive",
      "unarchive",
      "link_root",
    ])
    .describe("load_context without sessionId finds your own session of this project, or its newest"),
  sessionId: z.string().min(1).optional().describe("Session id, or a unique prefix"),
  mcpRootUri: z
    .string()
    .min(1)
    .optional()
    .describe('Project folder, as file:// URI or path; list_sessions takes "all" too'),
  title: z.string().trim().min(1).max(200).optional(),
  tags: z.array(z.string().min(1).max(100)).max(50).optional(),
  domain: z.string().trim().min(1).max(100).optional(),
  limit: z.int().min(1).max(500).optional().describe("Sessions listed (default 20) or thoughts per page"),
  cursor: z.string().optional().describe("nextCursor of the last load_context"),
})

const RootView = z.object({
  uri: z.string(),
  name: z.string().optional(),
  bound: z.boolean().optional(),
  sessions: z.number().optional(),
})
const Output = z.object({
  success: z.boolean(),
  message: z.string(),
  session: SessionView.optional(),
  thoughts: z.array(ThoughtView).optional(),
  branches: z.record(z.string(), z.array(ThoughtView)).optional(),
  sessions: z.array(SessionView).optional(),
  candidates: z.array(SessionView).optional(),
  roots: z.array(RootView).optional(),
  nextCursor: z.string().optional(),
})
type In = z.output<typeof Input>
export type Out = z.output<typeof Output>

export const init = operation({
  name: "init",
  summary: "Recover this project's reasoning sessions after a restart or compaction, start new ones, and manage them.",
  ...TOOL_WRITES,
  tool: { set: "recovery", alwaysLoad: true },
  input: Input,
  output: Output,
  text: describe,
  run: (services, input, caller) => handlers[input.operation](services, input, caller).catch(unknownSession),
})

type Handler = (services: Services, input: In, caller: Caller) => Promise<Out>

const LISTED = 20

const handlers: Record<In["operation"], Handler> = {
  async get_state({ sessions }, input, caller) {
    const root = await sessions.recovery.callerRoot(caller, input.mcpRootUri)
    const { bound: session, open: known } = await sessions.recovery.state(caller, root?.project?.id)
    return {
      success: true,
      message: [
        root
          ? `Project ${root.uri} (${rootSource[root.source]}), ${counted(known, "session")}.`
          : noRoot(sessions.projects, caller),
        session ? `Current session: ${session.title}.` : "No current session: load_context or start_new.",
      ].join(" "),
      ...(session ? { session: viewSession(session) } : {}),
      roots: root ? [{ uri: root.uri, bound: root.source === "bound", sessions: known }] : [],
    }
  },
  async list_roots({ sessions }, input, caller) {
    const root = await sessions.recovery.callerRoot(caller, input.mcpRootUri)
    const names = new Map<string, string | undefined>(root ? [[root.uri, undefined]] : [])
    for (const { uri, name } of caller.roots ?? []) {
      const found = await sessions.projects.find(uri).catch(() => undefined)
      if (found) names.set(found.uri, names.get(found.uri) ?? shownName(name))
    }
    const isBound = (uri: string) => root?.source === "bound" && uri === root.uri
    const roots = [...names].map(([uri, name]) => ({ uri, name, bound: isBound(uri) }))
    return {
      success: true,
      message:
        roots.length === 0
          ? noRoot(sessions.projects, caller)
          : `${roots.length} known: ${roots.map(({ uri, name }) => (name === undefined ? uri : `${name} (${uri})`)).join(", ")}`,
      roots,
    }
  },
  async bind_root({ sessions }, input, caller) {
    const { uri, kept, without } = await sessions.recovery.bindRoot(caller, needed(input, "mcpRootUri"))
    const message = kept
      ? `Bound to ${uri}.${without ? ` Session "${without.title}" belongs to no project yet: link_root puts it into this one.` : ""}`
      : `${uri} is this project's root. This client cannot be distinguished from others: pass mcpRootUri with each call.`
    return { success: true, message, roots: [{ uri, bound: kept }] }
  },
  async list_sessions({ sessions }, input, caller) {
    const all = input.mcpRootUri === "all"
    const root = all ? undefined : await sessions.recovery.callerRoot(caller, input.mcpRootUri)
    if (!all && !root)
      return {
        success: false,
        message: `${noRoot(sessions.projects, caller)} mcpRootUri "all" lists every project.`,
        sessions: [],
      }
    if (!all && !root?.project)
      return { success: true, message: `No sessions yet for ${root?.uri}. Use start_new to begin.`, sessions: [] }
    const { domain, limit = LISTED } = input
    const found = await sessions.recovery.list({ projectId: root?.project?.id, domain, limit })
    return {
      success: true,
      message: `${counted(found.length, "session")} ${all ? "of all projects" : `of ${root?.uri}`}, newest first.`,
      sessions: found.map(viewSession),
    }
  },
  async start_new({ sessions }, input, caller) {
    const { mcpRootUri: root, title, tags, domain } = input
    const session = await sessions.recovery.startNew(caller, { root, title, tags, domain })
    const where = session.rootUri === null ? noRoot(sessions.projects, caller) : `Project ${session.rootUri}.`
    return { ...about(session, `Started session ${session.id}. ${where}`), thoughts: [], branches: {} }
  },
  async load_context({ sessions, capture }, input, caller) {
    const sessionId = input.sessionId && (await trustedIdOf({ sessions, capture }, input.sessionId, caller))
    const found = await sessions.recovery
      .load(caller, { root: input.mcpRootUri, sessionId, cursor: input.cursor, limit: input.limit })
      .catch((error: unknown) => {
        if (error instanceof Failure && error.code === "root_unknown") return error
        throw error
      })
    if (found instanceof Failure) return { success: false, message: noRoot(sessions.projects, caller) }
    if (!found.session)
      return { success: false, message: `No sessions found for project ${found.rootUri}. Use start_new to begin.` }
    const { session, page, rivals } = found
    return {
      ...about(session, recovered(found, noRoot(sessions.projects, caller))),
      ...viewThoughts(page.thoughts),
      ...(rivals.length === 0 ? {} : { candidates: rivals.map(viewSession) }),
      ...(page.olderCursor === null ? {} : { nextCursor: page.olderCursor }),
    }
  },
  async rename({ sessions }, input, caller) {
    const { title, tags, domain } = input
    if (title === undefined && tags === undefined && domain === undefined) throw missing("title", input)
    const session = await sessions.edits.rename(await target(sessions, input, caller), { title, tags, domain })
    return about(session, `Session ${session.id} is now "${session.title}".`)
  },
  pin: (services, input, caller) =>
    changed(services, input, caller, "Pinned", (id) => services.sessions.edits.pin(id, true)),
  unpin: (services, input, caller) =>
    changed(services, input, caller, "Unpinned", (id) => services.sessions.edits.pin(id, false)),
  archive: (services, input, caller) =>
    changed(services, input, caller, "Archived", (id) => services.sessions.edits.archive(id, true)),
  unarchive: (services, input, caller) =>
    changed(services, input, caller, "Restored from the archive:", (id) => services.sessions.edits.archive(id, false)),
  async link_root({ sessions }, input, caller) {
    const root = needed(input, "mcpRootUri")
    const { session, rootUri } = await sessions.edits.linkRoot(await target(sessions, input, caller), root)
    return about(session, `Session ${session.id} now also belongs to ${rootUri}.`)
  },
}

/** An unknown id is a miss, not an error. */
function unknownSession(error: unknown): Out {
  if (error instanceof Failure && error.code === "session_not_found")
    return { success: false, message: `${error.message}. list_sessions shows the sessions there are.` }
  throw error
}

async function changed(
  { sessions }: Services,
  input: In,
  caller: Caller,
  done: string,
  act: (id: string) => ReturnType<Services["sessions"]["edits"]["pin"]>,
): Promise<Out> {
  const session = await act(await target(sessions, input, caller))
  return about(session, `${done} session ${session.id} "${session.title}".`)
}

const about = (session: Session, message: string) => ({ success: true, message, session: viewSession(session) })

/** Sessions from a repository's own files are untrusted and have no thoughts to load. */
async function trustedIdOf(
  modules: Pick<Services, "sessions" | "capture">,
  id: string,
  caller: Caller,
): Promise<string> {
  const session = await sessionOf(modules, id, caller)
  if (!isUntrusted(session)) return session.id
  throw new Failure(
    "bad_input",
    `session ${id} is ${UNTRUSTED_LABEL}, and has no thoughts; resume_session_context with session_id ${session.id.slice(0, 8)} quotes it`,
    { parameter: "sessionId", value: id },
  )
}

async function target(sessions: Services["sessions"], input: In, caller: Caller): Promise<string> {
  if (input.sessionId !== undefined) return input.sessionId
  const current = await sessions.recovery.boundSession(caller)
  if (!current) throw missing("sessionId", input)
  return current.id
}

function needed(input: In, parameter: "mcpRootUri"): string {
  const value = input[parameter]
  if (value === undefined) throw missing(parameter, input)
  return value
}

function missing(parameter: string, input: In): Failure {
  return new Failure("bad_input", `${parameter} is missing: ${input.operation} needs it`, { parameter })
}
