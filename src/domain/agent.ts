import type { AgentConsole } from "./agent-console.ts"
import type { AgentLine, LineAsking } from "./agent-line.ts"
import type { Driver } from "./driver.ts"
import type { HandoffTarget } from "./handoff.ts"
import type { Platform } from "./platform.ts"
import type { AgentSetup } from "./setup.ts"

/** Everything we know about one agent. Each agent has a folder, and agents/list.ts names it. A missing part is not supported. */
export interface Agent {
  /** How to read its files; two where it used two formats that share no session. */
  records: readonly Platform[]
  /** How to reach it in a terminal. */
  console?: AgentConsole
  /** How to make it report to us. */
  setup?: AgentSetup
  /** How it continues a conversation of another agent. */
  handoffTarget?: HandoffTarget
  /** Access to its sessions without a terminal. */
  line?: AgentLine
  /** How to hear and answer its permission requests there. */
  lineAsking?: LineAsking
  /** Runs sessions in our own processes. Loaded lazily: commands that only call the daemon start without it. */
  loadDriver?: () => Promise<Driver>
}
