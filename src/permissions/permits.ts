import type { PermissionAnswer, PermissionRequest } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import { newPermissionId, permissionIdOf, type SessionId } from "../domain/ids.ts"
import type { AuditEntry, Decision, Permission } from "../domain/permission.ts"
import { redactInside } from "../domain/redact.ts"
import type { Store } from "../domain/store.ts"
/** What agents may do only when a person says so: asked, waited for, decided once, and written down. */
import { makeBell } from "../lib/bell.ts"
import type { Clock } from "../lib/clock.ts"
import { makePendingRequests, NO_HOOK, type PendingAnswer } from "./pending.ts"
import { answerOf, checkedAnswers, keptOf, lateText, type Meant, ruleOf } from "./permit-words.ts"
export interface Permits {
  /** Waits for a person, however long the settings allow. Whatever goes wrong, the answer is no. */
  permit(request: PermissionRequest, context: AskContext, signal: AbortSignal): Promise<PermissionAnswer>
  /** Kept for a hook, which then comes to wait; under the same key it is the same. It expires as told, or as the settings allow. */
  ask(request: PermissionRequest, context: AskContext, options: ApprovalOptions): Promise<Permission>
  /** Under which what was asked with this key is kept. */
  idOf(key: string): string
  waitFor(id: string, signal: AbortSignal): Promise<PendingAnswer>
  /** What was asked under this key was answered, and the answer has reached the agent. */
  taken(key: string): Promise<void>
  /** The agent of a hook went on without an answer from here. */
  release(id: string, why: { by: string; reason: string }): Promise<void>
  /** What was chosen so far of its questions' answers; false when it waits no longer. */
  note(id: string, answers: Permission["answers"]): Promise<boolean>
  /** The first answer counts; a later one is told which that was. What waits by a hook is decided only if that takes it. */
  decide(id: string, decision: Decision, by: string): Promise<{ isFirst: boolean; permission: Permission }>
  /** By its id, or the beginning of it. */
  named(given: string): Promise<Permission>
  waiting(): Promise<Permission[]>
  /** Newest first. */
  recent(last: number): Promise<Permission[]>
  /** Newest first. */
  audit(options: { limit: number; beforeSeq?: number }): Promise<AuditEntry[]>
  /** At start: requests of an earlier daemon of this data directory are stale. */
  leaveDead(): Promise<void>
  /** Whether somebody looked at what waits a moment ago. */
  isWatched(): boolean
  /** Sends hooks that wait to the daemon that comes next. */
  close(): void
}

export interface AskContext {
  /** Who asks, in words: a pair, or a session. */
  asker: string
  team: string | null
  sessionId: SessionId | null
  /** The agent takes another input than the one that it asked with. */
  canUpdateInput?: boolean
}

export interface ApprovalOptions {
  key: string
  mostMs: number
  /** Looked at before an answer counts: false when the agent has just gone on without one. */
  isAsked?(): Promise<boolean>
}

export interface PermitsDeps {
  store: Store
  clock: Clock
  settings: { timeoutMinutes: number }
  /** Host and data directory of this daemon. */
  home: string
  /** Takes out secrets: of what was decided only that is kept. */
  redact(text: string): string
  onTrouble(error: unknown, what: string): void
}

type Settled = Parameters<Store["permissions"]["decide"]>[1]

/** Makes it right where a wake-up was lost, and ends what nobody answers. */
const LOOK_MS = 500
/** Named as the decider when no person decided. */
const OURSELVES = "throughline"
const AUDIT_TITLE_CHARS = 300
/** The dashboard looks every 2 s, and a busy machine can delay several looks. */
const WATCHED_MS = 15_000

export function makePermits({ store, clock, settings, home, redact, onTrouble }: PermitsDeps): Permits {
  /** Those that wait here, and what was meant by their answers: it may hold secrets, and is not kept. */
  const here = new Map<string, { canUpdateInput: boolean; meant: Meant; isAsked?: ApprovalOptions["isAsked"] }>()
  let lookedAtMs = 0

  /** Writes the decision with its traces, if it is the first. */
  const settle = (id: string, settled: Omit<Settled, "atMs" | "kept">, meant: Meant = {}): Promise<boolean> =>
    store.transaction(async (tx) => {
      const permission = await tx.permissions.byId(id)
      const atMs = clock.nowMs()
      const reason = settled.reason ? redact(settled.reason) : null
      const kept = permission && keptOf({ ...permission, answers: meant.answers ?? permission.answers }, redact)
      if (!permission || !(await tx.permissions.decide(id, { ...settled, reason, atMs, ...(kept && { kept }) })))
        return false
      const asking = here.get(id)
      // Before it is committed, and so before anybody who waits can read it.
      if (asking) asking.meant = meant
      const { tool, team, asker, sessionId } = permission
      const { state, by, always } = settled
      const rule = always === undefined || always === null ? undefined : kept!.suggestions[always]?.label
      const what = {
        id,
        asker,
        ...(team !== null && { team }),
        tool,
        title: kept!.title.slice(0, AUDIT_TITLE_CHARS),
        ...(rule !== undefined && { rule }),
        ...(meant.updatedInput && { updatedInput: redactInside(meant.updatedInput, redact) }),
        ...(meant.answers && { answers: kept!.answers }),
        ...(reason !== null && { reason }),
      }
      await tx.audit.add({ atMs, who: by, what: `permission.${state}`, data: what })
      // Of one that waits by a hook it is told when that has taken it.
      if (permission.via === "hook" && (state === "allowed" || state === "denied")) return true
      const data = { id, team, tool, state, by }
      await tx.journal.append([{ kind: "permission.decided", sessionId, atMs, data, key: `${id} decided` }])
      return true
    })
  const end = (id: string, state: "timed_out" | "stale", reason: string) => settle(id, { state, reason, by: OURSELVES })
  const pending = makePendingRequests({
    store,
    clock,
    home,
    end,
    onTrouble,
    meantBy: (id) => here.get(id)?.meant ?? {},
  })

  const keep = (request: PermissionRequest, context: AskContext, row: Kept) =>
    store.transaction(async (tx) => {
      const { tool, title, input, suggestions, questions = [] } = request
      const { asker, team, sessionId } = context
      const { askedAtMs } = row
      if (await tx.permissions.byId(row.id)) return
      await tx.permissions.ask({
        ...{ home, asker, team, sessionId, tool, title, input, questions },
        suggestions: suggestions.map(({ label }) => ({ label })),
        ...{ state: "waiting", always: null, reason: null, answeredBy: null, answeredAtMs: null },
        ...{ answers: {}, takenAtMs: null, ...row },
      })
      const data = { id: row.id, team, tool, asker }
      await tx.journal.append([{ kind: "permission.asked", sessionId, atMs: askedAtMs, data }])
    })

  const wait = async (id: string, expiresAtMs: number, signal: AbortSignal): Promise<Permission> => {
    const bell = makeBell({ store, signal })
    const look = async () => {
      const permission = await store.permissions.byId(id)
      if (!permission) throw new Failure("permission_not_found", `${id} is no longer stored`, { id })
      if (permission.state !== "waiting") return permission
      if (signal.aborted) await end(id, "stale", "the agent asks no longer")
      else if (clock.nowMs() >= expiresAtMs) await end(id, "timed_out", lateText(settings.timeoutMinutes * 60_000))
      else await bell.wait(LOOK_MS)
      return undefined
    }
    try {
      for (;;) {
        const permission = await look().catch((error: unknown) => {
          // A store that is away for a moment is no reason to refuse what a person may be looking at.
          if (signal.aborted || !Failure.from(error).kind.retry) throw error
          return bell.wait(LOOK_MS).then(() => undefined)
        })
        if (permission) return permission
      }
    } finally {
      bell.close()
    }
  }

  const named = async (given: string): Promise<Permission> => {
    const found = await store.permissions.byId(await idOf(store, given))
    if (!found) throw new Failure("permission_not_found", `there is no permission ${given}`, { id: given })
    return found
  }

  return {
    async permit(request, context, signal) {
      const id = newPermissionId()
      const askedAtMs = clock.nowMs()
      const expiresAtMs = askedAtMs + settings.timeoutMinutes * 60_000
      here.set(id, { canUpdateInput: context.canUpdateInput ?? false, meant: {} })
      try {
        await keep(request, context, { id, via: "process", askedAtMs, expiresAtMs })
        const permission = await wait(id, expiresAtMs, signal)
        return answerOf(permission, here.get(id)?.meant)
      } catch (error) {
        onTrouble(error, `the permission ${id} for ${request.tool}`)
        return { behavior: "deny", message: `Nobody could be asked: ${Failure.from(error).message}` }
      } finally {
        here.delete(id)
      }
    },
    async ask(request, context, { key, mostMs, isAsked }) {
      const id = permissionIdOf(home, key)
      const askedAtMs = clock.nowMs()
      const expiresAtMs = askedAtMs + Math.min(mostMs, settings.timeoutMinutes * 60_000)
      await keep(request, context, { id, via: "hook", askedAtMs, expiresAtMs })
      if (!here.has(id)) here.set(id, { canUpdateInput: context.canUpdateInput ?? false, meant: {}, isAsked })
      return (await store.permissions.byId(id))!
    },
    idOf: (key) => permissionIdOf(home, key),
    async waitFor(id, signal) {
      const answer = await pending.waitFor(id, signal)
      if (answer.kind === "over") here.delete(id)
      return answer
    },
    async taken(key) {
      const id = permissionIdOf(home, key)
      await pending.taken(id)
      here.delete(id)
    },
    async release(id, { by, reason }) {
      await settle(id, { state: "stale", reason, by })
    },
    note: (id, answers) => store.permissions.note(id, answers),
    named,
    async decide(given, decision, by) {
      const before = await named(given)
      const { id } = before
      const instead = decision.kind === "allow" ? decision.updatedInput : undefined
      if (instead && before.state === "waiting" && !here.get(id)?.canUpdateInput)
        throw new Failure("bad_input", `${before.tool} can be allowed or denied here, but not with another input`, {
          parameter: "updatedInput",
        })
      const { settled, meant } = meaningOf(before, decision)
      const now = async () => (await store.permissions.byId(id)) ?? before
      if (before.via === "process")
        return { isFirst: await settle(id, { ...settled, by }, meant), permission: await now() }
      if (before.state === "waiting" && before.home === home && !(await pending.isThere(id)))
        await end(id, "stale", NO_HOOK)
      else if (before.state === "waiting" && (await here.get(id)?.isAsked?.()) === false)
        await end(id, "stale", "the agent has gone on already")
      const isFirst = await settle(id, { ...settled, by }, meant)
      await pending.settleTaking(id)
      here.delete(id)
      const permission = await now()
      return { isFirst: isFirst && permission.state === settled.state, permission }
    },
    waiting() {
      lookedAtMs = clock.nowMs()
      return store.permissions.waiting()
    },
    recent: (last) => store.permissions.list({ last }),
    audit: (options) => store.audit.list(options),
    async leaveDead() {
      try {
        for (const permission of await store.permissions.waiting())
          if (permission.home === home && permission.via === "process")
            await end(permission.id, "stale", "the daemon was restarted")
      } catch (error) {
        onTrouble(error, "what waited before the restart")
      }
      await pending.leaveBehind()
    },
    isWatched: () => Math.abs(clock.nowMs() - lookedAtMs) < WATCHED_MS,
    close: pending.close,
  }
}

type Kept = Pick<Permission, "id" | "via" | "askedAtMs" | "expiresAtMs">

function meaningOf(permission: Permission, decision: Decision) {
  const { kind, reason = null } = decision
  if (kind === "deny")
    return { settled: { state: "denied", reason } as const, meant: { interrupt: decision.interrupt } }
  // A yes alone would be no answer to what it asks.
  const answers = kind === "answer" ? checkedAnswers(permission, decision.answers) : undefined
  if (permission.questions.length > 0 && permission.state === "waiting" && kind !== "answer")
    throw new Failure("bad_input", `${permission.tool} asks questions: answer them, or deny`, { parameter: "answer" })
  const always = kind === "always" ? ruleOf(permission, decision.which) : null
  const updatedInput = kind === "allow" ? decision.updatedInput : undefined
  return { settled: { state: "allowed", always, reason } as const, meant: { updatedInput, answers } }
}

/** The beginning of an id is enough while it is the only one that waits. */
async function idOf(store: Store, given: string): Promise<string> {
  const fitting = (await store.permissions.waiting()).filter(({ id }) => id === given || id.startsWith(given))
  if (fitting.length > 1 && !fitting.some(({ id }) => id === given))
    throw new Failure("bad_input", `${given} is the beginning of ${fitting.map(({ id }) => id).join(" and ")}`, {
      parameter: "id",
    })
  return fitting.length === 1 ? fitting[0]!.id : given
}
