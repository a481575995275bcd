import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { newSessionId, type ProjectId, type SessionId } from "../domain/ids.ts"
import type { ProjectFinder } from "../domain/project.ts"
import { REASONING_PLATFORM, type Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { plainText } from "../domain/text.ts"
import type { Clock } from "../lib/clock.ts"
import { defined } from "../lib/defined.ts"
import { sessionsByPrefix } from "../lib/session-prefix.ts"
import { cursorThought, notOurCursor, pageOf, type ThoughtsPage } from "./thoughts-page.ts"

/** Sessions this close to the newest one are listed beside it: the caller may have meant them. */
const RIVAL_MS = 10 * 60 * 1000
/** How many of the newest are considered when looking for one that no other agent is working in. */
const CHOSEN_FROM = 10
/** No caller has an empty key. */
const NOBODY = ""

export interface Recovered {
  session: Session
  by: "id" | "pinned" | "own" | "ownWithoutRoot" | "newest"
  /** Another agent is working in it: the caller's next thought starts a new session, unless it names this one. */
  isOthers: boolean
  /** Time since the last change. */
  untouchedMs: number
  /** The session belongs to another root than the caller's. */
  otherRoot: boolean
  rivals: Session[]
  page: ThoughtsPage
}

export type SessionRecovery = ReturnType<typeof makeRecovery>

interface NewRequest {
  root?: string | undefined
  title?: string | undefined
  tags?: string[] | undefined
  domain?: string | undefined
}

interface LoadRequest {
  root?: string | undefined
  sessionId?: string | undefined
  cursor?: string | undefined
  limit?: number | undefined
}

interface ListRequest {
  projectId?: ProjectId | undefined
  domain?: string | undefined
  limit: number
}

interface Deps {
  store: Store
  clock: Clock
  projects: ProjectFinder
  redact(text: string): string
  /** Whether a process of this machine runs; absent: none is known to. */
  isAlive?: ((pid: number) => boolean) | undefined
}

export function makeRecovery({ store, clock, projects, isAlive, redact }: Deps) {
  const bind = async (caller: Caller, sessionId: SessionId, { isOwn } = { isOwn: false }) => {
    if (caller.key === undefined) return
    const before = isOwn ? undefined : await store.bindings.get(caller.key)
    // Reading its own session does not change the ownership.
    const own = isOwn || (before?.sessionId === sessionId && before.isOwn)
    await store.bindings.set(caller.key, { sessionId, isOwn: own }, clock.nowMs())
  }

  /** Reading must work on a full disk, even though the caller's choice cannot be saved. */
  const bindIfWritable = async (caller: Caller, sessionId: SessionId) => {
    try {
      await bind(caller, sessionId)
    } catch (error) {
      if (!(error instanceof Failure) || (error.code !== "store_full" && error.code !== "store_readonly")) throw error
    }
  }

  /** By full id or unique prefix; inside a transaction if one is given. */
  const get = async (idOrPrefix: string, on = store) => {
    const found = await sessionsByPrefix(on, idOrPrefix)
    const details = { sessionId: idOrPrefix }
    if (found.length > 1)
      throw new Failure("session_ambiguous", `more than one session id starts with ${idOrPrefix}`, details)
    if (!found[0]) throw new Failure("session_not_found", `Session ${idOrPrefix} not found`, details)
    return found[0]
  }

  const boundSession = async (caller: Caller) =>
    caller.key === undefined ? undefined : store.sessions.boundTo(caller.key)

  /** The session that the caller last wrote to. */
  const ownOf = async (caller: Caller) => {
    const isOwn = caller.key !== undefined && (await store.bindings.get(caller.key))?.isOwn
    return isOwn ? boundSession(caller) : undefined
  }

  /** The session of this project that the caller last wrote to. */
  const ownIn = async (projectId: ProjectId, caller: Caller) => {
    const bound = await ownOf(caller)
    if (!bound || bound.archivedAtMs !== null || bound.projectId === projectId) return openOnly(bound)
    const linked = await store.sessions.ids({ projectId, among: [bound.id] })
    return linked.length > 0 ? bound : undefined
  }

  /** Whether another agent chose the session and its process is still running. */
  const isAnothers = async (id: SessionId, caller: Caller): Promise<boolean> => {
    for (const key of await store.bindings.holders(id)) {
      if (key === caller.key) return false
      const at = key.indexOf(":")
      const agents = at < 0 ? undefined : await store.sessions.byNative(key.slice(0, at), key.slice(at + 1))
      const last = agents && (await store.runs.ofSession(agents.id)).at(-1)
      if (last && last.endedAtMs === null && last.pid > 0 && isAlive?.(last.pid)) return true
    }
    return false
  }

  const untouched = ({ updatedAtMs }: Session) => clock.nowMs() - updatedAtMs

  const firstFree = async (sessions: readonly Session[], caller: Caller) => {
    for (const session of sessions) if (!(await isAnothers(session.id, caller))) return session
    return undefined
  }

  /** Without a root, a client can only resume the session it wrote itself. */
  const ownWithoutRoot = async (caller: Caller, limit: number | undefined) => {
    const session = openOnly(await ownOf(caller))
    if (!session) throw new Failure("root_unknown", "this client's project root is unknown, so a sessionId is needed")
    const page = await pageOf(store, session, undefined, limit)
    const untouchedMs = untouched(session)
    return { session, by: "ownWithoutRoot" as const, isOthers: false, untouchedMs, otherRoot: false, rivals: [], page }
  }

  return {
    callerRoot: (caller: Caller, explicit?: string) => projects.ofCaller(caller, explicit),
    get,
    /** `without`: the caller's own session, if it belongs to no project. */
    async bindRoot(caller: Caller, root: string) {
      const project = await projects.ensure(root)
      if (caller.key !== undefined) await store.bindings.set(caller.key, { rootUri: project.rootUri }, clock.nowMs())
      const bound = await boundSession(caller)
      const without = bound?.projectId === null ? bound : undefined
      return { uri: project.rootUri, kept: caller.key !== undefined, without }
    },
    boundSession,
    async startNew(caller: Caller, { root, title, tags, domain }: NewRequest): Promise<Session> {
      const callerRoot = await projects.ofCaller(caller, root)
      const project = callerRoot && (await projects.ensure(callerRoot.given))
      const nowMs = clock.nowMs()
      const id = newSessionId()
      const session = await store.transaction(async (tx) => {
        const made = await tx.sessions.create({
          id,
          platform: REASONING_PLATFORM,
          nativeId: id,
          projectId: project?.id ?? null,
          title:
            (title && redact(plainText(title))) ??
            `Session of ${new Date(nowMs).toISOString().slice(0, 16).replace("T", " ")}`,
          tags: (tags ?? []).map((tag) => redact(plainText(tag))),
          domain: domain && redact(plainText(domain)),
          key: caller.idempotencyKey ?? null,
          createdAtMs: nowMs,
        })
        const entry = { kind: "session.started", sessionId: id, projectId: project?.id ?? null, atMs: nowMs }
        if (made.created) await tx.journal.append([entry])
        return made.session
      })
      await bind(caller, session.id, { isOwn: true })
      return session
    },
    async load(
      caller: Caller,
      { root, sessionId, cursor, limit }: LoadRequest,
    ): Promise<Recovered | { session: undefined; rootUri: string | undefined }> {
      const reading = cursor === undefined ? undefined : await cursorThought(store, cursor)
      if (sessionId !== undefined || reading) {
        const session = await get(sessionId ?? reading!.sessionId)
        if (reading && reading.sessionId !== session.id) throw notOurCursor(cursor, `of session ${session.id}`)
        const callerRoot = await projects.ofCaller(caller, root).catch(rootUnknown)
        const roots = [session.rootUri, ...(await store.sessions.linkedRoots(session.id))]
        await bindIfWritable(caller, session.id)
        const otherRoot = callerRoot !== undefined && !roots.includes(callerRoot.uri)
        const page = await pageOf(store, session, reading?.seq, limit)
        return { session, by: "id", isOthers: false, untouchedMs: untouched(session), otherRoot, rivals: [], page }
      }
      const callerRoot = await projects.ofCaller(caller, root)
      if (!callerRoot) return ownWithoutRoot(caller, limit)
      if (!callerRoot.project) return { session: undefined, rootUri: callerRoot.uri }
      const open = { projectId: callerRoot.project.id, archived: false, platform: REASONING_PLATFORM }
      const newest = await store.sessions.list({ ...open, limit: CHOSEN_FROM })
      const pinned = await store.sessions.pinned(callerRoot.project.id, REASONING_PLATFORM)
      const own = pinned ? undefined : await ownIn(callerRoot.project.id, caller)
      const session = pinned ?? own ?? (await firstFree(newest, caller)) ?? newest[0]
      if (!session) return { session: undefined, rootUri: callerRoot.uri }
      const updatedSinceMs = newest[0]!.updatedAtMs - RIVAL_MS
      const near = await store.sessions.list({ ...open, updatedSinceMs, limit: 10 })
      const isOthers = own === undefined && (await isAnothers(session.id, caller))
      if (!isOthers) await bindIfWritable(caller, session.id)
      return {
        session,
        by: pinned ? "pinned" : own ? "own" : "newest",
        isOthers,
        untouchedMs: untouched(session),
        otherRoot: false,
        rivals: near.filter((other) => other.id !== session.id),
        page: await pageOf(store, session, undefined, limit),
      }
    },
    /** The session that the caller last chose, and how many of the project are open. */
    async state(caller: Caller, projectId: ProjectId | undefined) {
      if (projectId === undefined) return { bound: await boundSession(caller), open: 0 }
      return store.sessions.stateOf(caller.key ?? NOBODY, projectId, REASONING_PLATFORM)
    },
    /** Reasoning sessions; captured conversations have their own list. */
    list: ({ projectId, domain, limit }: ListRequest) =>
      store.sessions.list({ platform: REASONING_PLATFORM, ...defined({ projectId, domain }), limit }),
  }
}

const openOnly = (session: Session | undefined) => (session?.archivedAtMs === null ? session : undefined)

function rootUnknown(error: unknown): undefined {
  // The session was named by id, so an unknown root does not matter.
  if (error instanceof Failure && error.code.startsWith("root_") && error.code !== "root_needed") return undefined
  throw error
}
