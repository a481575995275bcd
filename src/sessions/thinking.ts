import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { plainText } from "../domain/text.ts"
import type { Thought } from "../domain/thought.ts"
import type { Clock } from "../lib/clock.ts"
import type { SessionRecovery } from "./recovery.ts"

export interface ThoughtInput {
  thought: string
  nextThoughtNeeded: boolean
  thoughtNumber?: number | undefined
  totalThoughts?: number | undefined
  isRevision?: boolean | undefined
  revisesThought?: number | undefined
  branchFromThought?: number | undefined
  branchId?: string | undefined
  sessionId?: string | undefined
}

export type Thinking = ReturnType<typeof makeThinking>

interface Deps {
  store: Store
  clock: Clock
  recovery: SessionRecovery
  redact(text: string): string
}

export function makeThinking({ store, clock, recovery, redact }: Deps) {
  /** The session this caller last used, or a new one if the caller can be recognised later. */
  const impliedSession = async (caller: Caller, input: ThoughtInput) => {
    const bound = await recovery.boundSession(caller)
    if (bound) return { session: bound, started: false, isOwn: await isOwnOf(caller) }
    const unknown = "this client cannot be distinguished from others, so every thought needs a sessionId"
    if (caller.key === undefined) throw new Failure("session_needed", unknown)
    // Rejected before a session is created: an empty one would be the newest and hide the intended one.
    if (input.branchFromThought !== undefined) throw noSuchThought("branchFromThought", input.branchFromThought)
    if (input.revisesThought !== undefined) throw noSuchThought("revisesThought", input.revisesThought)
    const key = caller.idempotencyKey === undefined ? {} : { idempotencyKey: `${caller.idempotencyKey}:session` }
    return {
      session: await recovery.startNew({ ...caller, ...key }, { title: titleOf(input.thought) || undefined }),
      started: true,
      isOwn: true,
    }
  }
  const isOwnOf = async ({ key }: Caller) => key !== undefined && (await store.bindings.get(key))?.isOwn === true

  /** One transaction, because each read outside of it takes its own locks. */
  const keep = (
    caller: Caller,
    input: ThoughtInput,
    implied?: { session: Session; started: boolean; isOwn: boolean },
  ) =>
    store.transaction(async (tx) => {
      const key = caller.idempotencyKey ?? null
      const session = implied?.session ?? (await recovery.get(input.sessionId!, tx))
      await tx.thoughts.lock(session.id)
      const before = key === null ? undefined : await tx.thoughts.byKey(key)
      if (before) return answer(tx, before, implied?.started)
      const { thought, thoughtCount } = await tx.thoughts.add({
        ...(await placed(tx, session.id, input)),
        key,
        createdAtMs: clock.nowMs(),
      })
      const { seq, number, branchId, createdAtMs: atMs } = thought
      const about = { sessionId: session.id, projectId: session.projectId, atMs, data: { seq, number, branchId } }
      await tx.journal.append([{ kind: "thought.recorded", ...about }])
      if (caller.key !== undefined && !implied?.isOwn) await rememberSession(tx, caller.key, session.id, clock)
      return { thought, session, startedSession: implied?.started ?? false, thoughtCount }
    })

  return {
    async record(caller: Caller, said: ThoughtInput) {
      const branch = said.branchId === undefined ? {} : { branchId: redact(said.branchId) }
      const input = { ...said, thought: redact(said.thought), ...branch }
      checkBranch(input)
      if (input.sessionId !== undefined) return keep(caller, input)
      // Before a session is chosen: a repeated call must not start another session.
      const key = caller.idempotencyKey
      const done = key === undefined ? undefined : await store.thoughts.byKey(key)
      return done ? answer(store, done) : keep(caller, input, await impliedSession(caller, input))
    },
  }
}

/** A repeated key returns the thought that was stored first, with its session. */
async function answer(store: Store, thought: Thought, startedSession = false) {
  const session = (await store.sessions.byId(thought.sessionId))!
  return { thought, session, startedSession, thoughtCount: session.thoughtCount }
}

function checkBranch(input: ThoughtInput): void {
  const missing = (parameter: string, message: string) => new Failure("bad_input", message, { parameter })
  if (input.branchId !== undefined && input.branchFromThought === undefined) {
    throw missing(
      "branchFromThought",
      `branchId "${input.branchId}" needs branchFromThought: add the number of the thought that the branch leaves`,
    )
  }
  if (input.branchFromThought !== undefined && input.branchId === undefined) {
    throw missing("branchId", `branchFromThought ${input.branchFromThought} needs branchId: add a name for the branch`)
  }
  if (input.isRevision === true && input.revisesThought === undefined) {
    throw missing("revisesThought", "isRevision needs revisesThought: add the number of the thought that is revised")
  }
}

/** The requested number if it is free on its branch, otherwise the next free one. */
async function placed(
  tx: Store,
  sessionId: SessionId,
  input: ThoughtInput,
): Promise<Omit<Thought, "seq" | "createdAtMs">> {
  const branchId = input.branchId ?? null
  if (branchId !== null) await checkOrigin(tx, sessionId, branchId, input.branchFromThought!)
  if (input.revisesThought !== undefined)
    await mustExist(tx, sessionId, branchId, input.revisesThought, "revisesThought")
  const highest = await tx.thoughts.highest(sessionId, branchId)
  const next = highest === 0 && branchId !== null ? input.branchFromThought! + 1 : highest + 1
  const wanted = input.thoughtNumber ?? next
  const taken = wanted <= highest && (await tx.thoughts.at(sessionId, branchId, wanted)) !== undefined
  const number = taken ? next : wanted
  return {
    sessionId,
    branchId,
    number,
    text: plainText(input.thought),
    totalThoughts: Math.max(input.totalThoughts ?? number, number),
    nextThoughtNeeded: input.nextThoughtNeeded,
    isRevision: input.isRevision ?? input.revisesThought !== undefined,
    revisesThought: input.revisesThought ?? null,
    branchFromThought: input.branchFromThought ?? null,
    renumberedFrom: taken ? wanted : null,
  }
}

async function checkOrigin(
  tx: Store,
  sessionId: SessionId,
  branchId: string,
  branchFromThought: number,
): Promise<void> {
  const origin = await tx.thoughts.branchOrigin(sessionId, branchId)
  if (origin === undefined) return mustExist(tx, sessionId, null, branchFromThought, "branchFromThought")
  if (origin === branchFromThought) return
  const message = `branch "${branchId}" leaves thought ${origin}, not ${branchFromThought}: give that number, or another branchId`
  throw new Failure("bad_input", message, { parameter: "branchFromThought" })
}

/** A branch may revise its own thoughts and those of the main line. */
async function mustExist(
  tx: Store,
  sessionId: SessionId,
  branchId: string | null,
  number: number,
  parameter: string,
): Promise<void> {
  if (await tx.thoughts.at(sessionId, branchId, number)) return
  if (branchId !== null && (await tx.thoughts.at(sessionId, null, number))) return
  throw noSuchThought(parameter, number)
}

function noSuchThought(parameter: string, number: number): Failure {
  return new Failure("thought_not_found", `${parameter} ${number} is not a thought of this session`, {
    parameter,
    value: number,
  })
}

async function rememberSession(store: Store, callerKey: string, sessionId: SessionId, clock: Clock): Promise<void> {
  const bound = await store.bindings.get(callerKey)
  if (bound?.sessionId !== sessionId || !bound.isOwn)
    await store.bindings.set(callerKey, { sessionId, isOwn: true }, clock.nowMs())
}

/** The first sentence: the title of a session without a name. */
function titleOf(thought: string): string {
  const title = /^.+?(?=[.!?](?:\s|$)|\n|$)/.exec(thought.trim())?.[0] ?? thought.trim()
  return title.length <= 80 ? title : `${title.slice(0, 79).trimEnd()}…`
}
