import { type Access, type Caller, callerKind, mayCall } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"

/** The one check of who may do what: every surface runs operations through it. */
export function authorize({ name, access }: { name: string; access: Access }, caller: Caller): void {
  const kind = callerKind(caller)
  if (mayCall(access, kind)) return
  if (access === "owner")
    throw new Failure("person_needed", `${name} is for the owner only, and this call comes from ${described(caller)}`, {
      operation: name,
    })
  throw new Failure(
    "not_allowed",
    `${name} is for agents and the owner, and this call comes from ${described(caller)}`,
    {
      operation: name,
    },
  )
}

/** How the audit names them. */
export const OWNER = "the owner"

export function described({ surface, agentShell, nativeSession, client }: Caller): string {
  if (agentShell !== undefined) return `the shell of an agent (${agentShell})`
  if (surface === "http") return `${client?.name ?? "an unnamed client"} over HTTP`
  return nativeSession?.platform ?? "an agent"
}
