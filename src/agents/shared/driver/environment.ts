import type { Machine } from "../../../domain/platform.ts"
import { OF_OUTER_AGENTS } from "../shells.ts"

/** The environment that an agent started from the user's shell would have. */
export function childEnv(machine: Machine): Record<string, string> {
  const own = Object.entries(machine.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OF_OUTER_AGENTS.has(entry[0]),
  )
  return { HOME: machine.homeDir, ...Object.fromEntries(own) }
}
