import type * as z from "zod"
import { type Access, type Caller, callerKind, mayCall } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { claimedName, UNNAMED } from "../domain/framing.ts"
import type { Operation } from "./operation.ts"
import type { Services } from "./services.ts"

/** Calls an operation by name with raw input: locally inside the daemon, over the socket elsewhere. */
export type Call = (name: string, input: unknown, caller: Caller) => Promise<Record<string, unknown>>

/** Authorize, parse, audit, run, check: the only place where an operation is run. */
export function local(operations: readonly Operation[], services: Services): Call {
  const byName = new Map(operations.map((op) => [op.name, op]))
  return async (name, input, caller) => {
    const op = byName.get(name)
    if (!op) throw new Failure("unknown_operation", `there is no operation ${JSON.stringify(name)}`, { name })
    authorize(op, caller)
    const parsed = op.input.safeParse(input ?? {})
    if (!parsed.success) throw badInput(op, parsed.error, input)
    await writeAudit(op, parsed.data, caller, services)
    const output = op.output.safeParse(await op.run(services, parsed.data, caller))
    if (!output.success) throw new Failure("internal", `${name} answered in a wrong shape`, {}, { cause: output.error })
    return output.data
  }
}

/** Written before the operation runs, so that every use of the owner's rights is recorded. */
async function writeAudit(
  { name, access, effect, audited = (input) => input }: Operation,
  input: Record<string, unknown>,
  { surface }: Caller,
  { audit }: Services,
): Promise<void> {
  if (access !== "owner" || effect === "read" || audited === "itself") return
  const data = audited(input)
  if (data)
    await audit({ who: OWNER, what: name, data: { via: surface === "cli" ? "terminal" : "dashboard", ...data } })
}

const SHOWN_VALUE_CHARS = 60

/** One sentence that names each wrong parameter and the value it had. */
function badInput(op: Operation, error: z.ZodError, input: unknown): Failure {
  const problems = error.issues.map((issue) => explain(op, issue, input))
  return new Failure("bad_input", problems.join("; "), { parameter: parameterOf(error.issues[0]) }, { cause: error })
}

function parameterOf(issue: z.core.$ZodIssue | undefined): string {
  return (issue?.code === "unrecognized_keys" ? issue.keys[0] : issue?.path.join(".")) ?? ""
}

function explain(op: Operation, issue: z.core.$ZodIssue, input: unknown): string {
  const name = issue.path.join(".")
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(op.input.shape).join(", ")
    return `unknown parameter ${issue.keys.map((key) => JSON.stringify(key)).join(", ")} (known: ${known})`
  }
  const value = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], input)
  if (name === "") return `the input must be an object, got ${shown(value)}`
  if (value === undefined) return `${name} is missing (${wanted(issue)})`
  return `${name} ${wanted(issue)}, got ${shown(value)}`
}

function wanted(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${withArticle(issue.expected === "int" ? "whole number" : issue.expected)}`
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`
    case "too_big":
      return `must be at most ${issue.maximum.toLocaleString("en")}${unit(issue.origin, issue.maximum)}`
    case "too_small":
      return `must be at least ${issue.minimum.toLocaleString("en")}${unit(issue.origin, issue.minimum)}`
    case "invalid_union":
      return issue.errors.flat().some((one) => one.code === "invalid_format" && one.format === "date")
        ? "must be a date such as 2026-11-15, or a time with its zone"
        : issue.message.toLowerCase()
    default:
      return issue.message.toLowerCase()
  }
}

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`

function unit(origin: string, count: number | bigint): string {
  const one = { string: " character", array: " item" }[origin]
  return one === undefined ? "" : Number(count) === 1 ? one : `${one}s`
}

function shown(value: unknown): string {
  if (typeof value === "string" && value.length > SHOWN_VALUE_CHARS) {
    return `${value.length.toLocaleString("en")} characters (${JSON.stringify(value.slice(0, SHOWN_VALUE_CHARS))}…)`
  }
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= SHOWN_VALUE_CHARS ? text : `${text.slice(0, SHOWN_VALUE_CHARS)}…`
}

/** The only access check: every surface runs operations through it. */
export function authorize({ name, access }: { name: string; access: Access }, caller: Caller): void {
  const kind = callerKind(caller)
  if (mayCall(access, kind)) return
  if (access === "owner")
    throw new Failure("person_needed", `${name} is for the owner only; this call comes from ${described(caller)}`, {
      operation: name,
    })
  throw new Failure("not_allowed", `${name} is for agents and the owner; this call comes from ${described(caller)}`, {
    operation: name,
  })
}

/** The owner's name in the audit. */
export const OWNER = "the owner"

export function described({ surface, agentShell, nativeSession, client }: Caller): string {
  if (agentShell !== undefined) return `the shell of an agent (${agentShell})`
  const claimed = claimedName([client?.name], [])
  if (surface === "http") return `${claimed} over HTTP`
  return nativeSession?.platform ?? (claimed === UNNAMED ? "an agent" : claimed)
}
