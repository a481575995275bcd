import type { AgentConsole } from "./agent-console.ts"
import type { AgentLine, LineAsking } from "./agent-line.ts"
import type { Driver } from "./driver.ts"
import type { HandoffTarget } from "./handoff.ts"
import type { Platform } from "./platform.ts"
import type { AgentSetup } from "./setup.ts"

/** All that we know of one agent: a folder of its own, which the list of agents names. What it lacks, nobody can do with it. */
export interface Agent {
  /** How its files are read; two, where it has kept them in two ways that share no session. */
  records: readonly Platform[]
  /** How it is reached in a terminal. */
  console?: AgentConsole
  /** How it is told to report to us. */
  setup?: AgentSetup
  /** How it goes on with a conversation that another agent began. */
  handoffTarget?: HandoffTarget
  /** A way into its sessions beside the terminal. */
  line?: AgentLine
  /** How it is heard asking there, and answered. */
  lineAsking?: LineAsking
  /** Runs sessions in processes of ours. Loaded when it is needed: commands that only ask the daemon start without it. */
  loadDriver?: () => Promise<Driver>
}
