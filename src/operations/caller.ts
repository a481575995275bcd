import { type Caller, isOwner } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"

/** Who decides. The shell of an agent is no person's; an agent that hides that it is one breaks its own rules. */
export function personOf(caller: Caller): string {
  if (isOwner(caller)) return "the owner"
  const { surface, agentShell, nativeSession, client } = caller
  const name = surface === "http" ? `${client?.name ?? "an unnamed client"} over HTTP` : "an agent"
  throw new Failure("person_needed", `this is asked by ${agentShell ?? nativeSession?.platform ?? name}`)
}
