import { existsSync } from "node:fs"
import type { DriveOptions, DriverCan } from "../../../domain/driver.ts"
import { Failure } from "../../../domain/failure.ts"
import { within } from "../../../lib/clock.ts"
import type { RpcPeer } from "./rpc.ts"

/** What most agents can: each driver names its differences. */
export const COMMON: DriverCan = {
  chooseId: false,
  resume: true,
  resumeAfterMs: 0,
  fork: true,
  compact: true,
  suggestions: true,
  updatedInput: false,
  denyReason: false,
  settings: false,
  usage: true,
  shared: true,
  ownServer: true,
  ping: true,
}

/** The slowest agent takes six seconds on an idle machine. */
export const START_MS = 60_000
/** How long a first prompt waits for our MCP server. */
export const SERVER_MS = 10_000
export const notStartedInTime = `the agent was not ready after ${START_MS / 1000} seconds`

/** Closes a process that does not answer in time. */
export async function inTime<T>(peer: RpcPeer, answer: Promise<T>): Promise<T> {
  const first = await within(
    START_MS,
    answer.then((value) => ({ value })),
  )
  if (first) return first.value
  answer.catch(() => {})
  await peer.close()
  throw new Failure("agent_failed", notStartedInTime)
}

/** Checks what a shared process would not notice or would ignore. */
export function checked({ projectDir, settingsFile }: DriveOptions, can: { settings: boolean }): void {
  if (!existsSync(projectDir)) throw new Failure("root_not_found", `the folder ${projectDir} does not exist`)
  if (settingsFile !== null && !can.settings)
    throw new Failure("bad_input", `settingsFile ${settingsFile}: this agent takes no settings file`)
}

/** The agent's mode for a permission mode in Claude Code's words. */
export function modeOf<Mode>(modes: Record<string, Mode>, requested: string): Mode {
  const mode = modes[requested]
  if (mode !== undefined) return mode
  throw new Failure("bad_input", `permissionMode ${requested}: this agent has ${Object.keys(modes).join(", ")}`)
}
