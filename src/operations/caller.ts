import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"

/** Who answers. The shell of an agent is no person's; an agent that hides that it is one breaks its own rules. */
export function personOf({ surface, agentShell, nativeSession, client }: Caller): string {
  if (surface === "mcp" || agentShell !== undefined || nativeSession !== undefined)
    throw new Failure("person_needed", `this is asked by ${agentShell ?? nativeSession?.platform ?? "an agent"}`)
  return surface === "cli" ? "the owner" : `${client?.name ?? "an unnamed client"} over HTTP`
}
