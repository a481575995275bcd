import type { Agent } from "../domain/agent.ts"
import { aider } from "./aider/index.ts"
import { antigravity } from "./antigravity/index.ts"
import { claudeCode } from "./claude-code/index.ts"
import { cline } from "./cline/index.ts"
import { codex } from "./codex/index.ts"
import { conversationLog } from "./conversation-log/index.ts"
import { copilotCli } from "./copilot-cli/index.ts"
import { copilotVscode } from "./copilot-vscode/index.ts"
import { cursor } from "./cursor/index.ts"
import { cursorCli } from "./cursor-cli/index.ts"
import { geminiCli } from "./gemini-cli/index.ts"
import { kilo } from "./kilo/index.ts"
import { opencode } from "./opencode/index.ts"
import { roo } from "./roo/index.ts"

/** All supported agents. To add one, make its folder and name it here. */
const agents: readonly Agent[] = [
  claudeCode,
  codex,
  geminiCli,
  antigravity,
  cursor,
  opencode,
  kilo,
  cursorCli,
  copilotCli,
  copilotVscode,
  cline,
  roo,
  aider,
  conversationLog,
]

/** Readers of conversations. */
export const platforms = agents.flatMap(({ records }) => records)

/** Agents reachable in a terminal. */
export const consoles = agents.flatMap(({ console }) => console ?? [])

/** Agents that `throughline setup` supports. */
export const agentSetups = agents.flatMap(({ setup }) => setup ?? [])

/** Agents that can continue another's conversation. Any other agent gets a brief as a file. */
export const handoffTargets = agents.flatMap(({ handoffTarget }) => handoffTarget ?? [])

/** Agents with direct access to their sessions. */
export const lines = agents.flatMap(({ line }) => line ?? [])

/** Agents whose permission requests can be answered outside of their terminals. */
export const linesAsking = agents.flatMap(({ lineAsking }) => lineAsking ?? [])

/** Drivers may hold processes: create them once, and close them. */
export const createDrivers = () => Promise.all(agents.flatMap(({ loadDriver }) => loadDriver?.() ?? []))
