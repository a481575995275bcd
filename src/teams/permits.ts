import type { Clock } from "../domain/clock.ts"
import type { PermissionAnswer, PermissionRequest } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import { newPermissionId, type SessionId } from "../domain/ids.ts"
import type { AuditEntry, KeptWords, Permission } from "../domain/permission.ts"
import type { Store } from "../domain/store.ts"

/** What agents may do only when a person says so: asked, waited for, decided once, and written down. */
export interface Permits {
  /** Waits for a person, however long the settings allow. Whatever goes wrong, the answer is no. */
  permit(request: PermissionRequest, context: AskContext, signal: AbortSignal): Promise<PermissionAnswer>
  /** The first answer counts; a later one is told which that was. */
  decide(id: string, decision: Decision, by: string): Promise<{ isFirst: boolean; permission: Permission }>
  waiting(): Promise<Permission[]>
  /** Newest first. */
  recent(last: number): Promise<Permission[]>
  /** Newest first. */
  audit(wish: { limit: number; beforeSeq?: number }): Promise<AuditEntry[]>
  /** At the start: nobody waits any more for what was asked in this home before. */
  leaveDead(): Promise<void>
}

export interface AskContext {
  /** Who asks, in words: a pair, or a session. */
  asker: string
  team: string | null
  sessionId: SessionId | null
  /** The agent takes another input than the one that it asked with. */
  canUpdateInput?: boolean
}

export type Decision =
  /** `updatedInput` is run instead of what was asked for; refused where the agent cannot, or waits in another home. */
  | { kind: "allow"; reason?: string | undefined; updatedInput?: Record<string, unknown> | undefined }
  /** Allowed, with one of the rules that were offered, by its place; which one is clear if there is one only. */
  | { kind: "always"; which?: number | undefined; reason?: string | undefined }
  | { kind: "deny"; reason?: string | undefined }

export interface PermitsDeps {
  store: Store
  clock: Clock
  settings: { timeoutMinutes: number }
  /** Names this daemon's home, on whichever machine. */
  home: string
  /** Takes out secrets: of what was decided only that is kept. */
  redact(text: string): string
  onTrouble(error: unknown, what: string): void
}

type Settled = Parameters<Store["permissions"]["decide"]>[1]

/** Makes it right where a wake-up was lost, and ends what nobody answers. */
const LOOK_MS = 500
/** Who decided where nobody did. */
const NOBODY = "throughline"
const AUDIT_TITLE_CHARS = 300

export function makePermits({ store, clock, settings, home, redact, onTrouble }: PermitsDeps): Permits {
  /** Those of this process that wait, and what they are to run instead: it may hold secrets, and is not kept. */
  const here = new Map<string, { canUpdateInput: boolean; updatedInput: Permission["input"] | undefined }>()

  /** Writes the decision with its traces, if it is the first. */
  const settle = (
    id: string,
    settled: Omit<Settled, "atMs" | "kept">,
    instead?: Permission["input"],
  ): Promise<boolean> =>
    store.transaction(async (tx) => {
      const permission = await tx.permissions.byId(id)
      const atMs = clock.nowMs()
      const reason = settled.reason ? redact(settled.reason) : null
      const kept = permission && keptOf(permission, redact)
      if (!permission || !(await tx.permissions.decide(id, { ...settled, reason, atMs, ...(kept && { kept }) })))
        return false
      const asking = here.get(id)
      // Before it is committed, and so before anybody who waits can read it.
      if (asking) asking.updatedInput = instead
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
        ...(instead && { updatedInput: cleanInput(instead, redact) }),
        ...(reason !== null && { reason }),
      }
      await tx.audit.add({ atMs, who: by, what: `permission.${state}`, data: what })
      const data = { id, team, tool, state, by }
      await tx.journal.append([{ kind: "permission.decided", sessionId, atMs, data, key: `${id} decided` }])
      return true
    })
  const end = (id: string, state: "timed_out" | "stale", reason: string) => settle(id, { state, reason, by: NOBODY })

  const wait = async (id: string, expiresAtMs: number, signal: AbortSignal): Promise<Permission> => {
    for (;;) {
      const woken = nextWake(store, signal, LOOK_MS)
      try {
        const permission = await store.permissions.byId(id)
        if (!permission) throw new Failure("permission_not_found", `${id} is kept no longer`, { id })
        if (permission.state !== "waiting") return permission
        if (signal.aborted) await end(id, "stale", "the agent asks no longer")
        else if (clock.nowMs() >= expiresAtMs) await end(id, "timed_out", lateText(settings.timeoutMinutes))
        else await woken.promise
      } catch (error) {
        // A store that is away for a moment is no reason to refuse what a person may be looking at.
        if (signal.aborted || !Failure.from(error).kind.retry) throw error
        await woken.promise
      } finally {
        woken.drop()
      }
    }
  }

  return {
    async permit(request, { asker, team, sessionId, canUpdateInput = false }, signal) {
      const { tool, title, input, suggestions } = request
      const [id, askedAtMs] = [newPermissionId(), clock.nowMs()]
      const expiresAtMs = askedAtMs + settings.timeoutMinutes * 60_000
      here.set(id, { canUpdateInput, updatedInput: undefined })
      try {
        await store.transaction(async (tx) => {
          await tx.permissions.ask({
            ...{ id, home, asker, team, sessionId, tool, title, input },
            suggestions: suggestions.map(({ label }) => ({ label })),
            ...{ state: "waiting", always: null, reason: null, answeredBy: null },
            ...{ askedAtMs, answeredAtMs: null, expiresAtMs },
          })
          const data = { id, team, tool, asker }
          await tx.journal.append([{ kind: "permission.asked", sessionId, atMs: askedAtMs, data }])
        })
        const permission = await wait(id, expiresAtMs, signal)
        return answerOf(permission, here.get(id)?.updatedInput)
      } catch (error) {
        onTrouble(error, `the permission ${id} for ${tool}`)
        return { behavior: "deny", message: `Nobody could be asked: ${Failure.from(error).message}` }
      } finally {
        here.delete(id)
      }
    },
    async decide(given, decision, by) {
      const id = await idOf(store, given)
      const before = await store.permissions.byId(id)
      if (!before) throw new Failure("permission_not_found", `there is no permission ${given}`, { id: given })
      const instead = decision.kind === "allow" ? decision.updatedInput : undefined
      if (instead && before.state === "waiting" && !here.get(id)?.canUpdateInput)
        throw new Failure("bad_input", `${before.tool} can be allowed or denied here, but not with another input`, {
          parameter: "updatedInput",
        })
      const state = decision.kind === "deny" ? "denied" : "allowed"
      const always = decision.kind === "always" ? ruleOf(before, decision.which) : null
      const isFirst = await settle(id, { state, always, reason: decision.reason ?? null, by }, instead)
      return { isFirst, permission: (await store.permissions.byId(id)) ?? before }
    },
    waiting: () => store.permissions.waiting(),
    recent: (last) => store.permissions.list({ last }),
    audit: (wish) => store.audit.list(wish),
    async leaveDead() {
      try {
        for (const permission of await store.permissions.waiting())
          if (permission.home === home) await end(permission.id, "stale", "the daemon was restarted")
      } catch (error) {
        onTrouble(error, "what waited before the restart")
      }
    },
  }
}

function answerOf(
  { state, always, reason, answeredBy }: Permission,
  updatedInput: Permission["input"] | undefined,
): PermissionAnswer {
  if (state === "allowed")
    return { behavior: "allow", ...(always !== null && { always }), ...(updatedInput && { updatedInput }) }
  if (state === "denied") return { behavior: "deny", message: `Denied by ${answeredBy}${reason ? `: ${reason}` : ""}` }
  return { behavior: "deny", message: `Not allowed: ${reason ?? state}` }
}

const lateText = (minutes: number) =>
  `nobody answered within ${minutes === 1 ? "a minute" : `${Number(minutes.toFixed(2))} minutes`}`

/** The beginning of an id is enough while it is the only one that waits. */
async function idOf(store: Store, given: string): Promise<string> {
  const fitting = (await store.permissions.waiting()).filter(({ id }) => id === given || id.startsWith(given))
  if (fitting.length > 1 && !fitting.some(({ id }) => id === given))
    throw new Failure("bad_input", `${given} is the beginning of ${fitting.map(({ id }) => id).join(" and ")}`, {
      parameter: "id",
    })
  return fitting.length === 1 ? fitting[0]!.id : given
}

function ruleOf({ suggestions, tool }: Permission, which = suggestions.length === 1 ? 0 : -1): number {
  if (suggestions[which] !== undefined) return which
  const offered = suggestions.map(({ label }, place) => `${place + 1} (${label})`).join(", ")
  const why = suggestions.length === 0 ? `no rule is offered for this ${tool}` : `which must be one of ${offered}`
  throw new Failure("bad_input", why, { parameter: "which" })
}

function keptOf({ title, input, suggestions }: Permission, redact: (text: string) => string): KeptWords {
  return {
    title: redact(title),
    input: cleanInput(input, redact),
    suggestions: suggestions.map(({ label }) => ({ label: redact(label) })),
  }
}

/** A secret is known by itself, or by the name that stands before it. */
function cleanInput(input: Permission["input"], redact: (text: string) => string): Permission["input"] {
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value)
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [redact(key), clean(inner)]))
  }
  let named: unknown = input
  try {
    named = JSON.parse(redact(JSON.stringify(input)))
  } catch {
    // What was taken out had a quotation mark at its edge; text by text is left.
  }
  return clean(named) as Permission["input"]
}

/** Listens before anything is read, so that what happens meanwhile is not slept through. */
function nextWake(store: Store, signal: AbortSignal, mostMs: number) {
  let drop = () => {}
  const promise = new Promise<void>((resolve) => {
    const forget = store.onWake(() => drop())
    const timer = setTimeout(() => drop(), mostMs)
    const onAbort = () => drop()
    signal.addEventListener("abort", onAbort, { once: true })
    drop = () => {
      forget()
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      resolve()
    }
  })
  return { promise, drop: () => drop() }
}
