import { type Access, type Caller, callerKind, mayCall } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { claimedName, UNNAMED } from "../domain/framing.ts"

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
