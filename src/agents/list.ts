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

/** Every agent that we know. To add one, make its folder and name it here. */
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

/** Whose conversations are captured. */
export const platforms = agents.flatMap(({ records }) => records)

/** That can be reached in a terminal. */
export const consoles = agents.flatMap(({ console }) => console ?? [])

/** That `throughline setup` can set up. */
export const agentSetups = agents.flatMap(({ setup }) => setup ?? [])

/** That can go on with another's conversation. To any other agent a brief is handed over as a file. */
export const handoffTargets = agents.flatMap(({ handoffTarget }) => handoffTarget ?? [])

/** That offer a way into their sessions. */
export const lines = agents.flatMap(({ line }) => line ?? [])

/** Whose sessions can be heard asking, and answered, beside their terminals. */
export const linesAsking = agents.flatMap(({ lineAsking }) => lineAsking ?? [])

/** All that can run sessions in processes of ours. Each may hold processes: to be made once, and closed. */
export const createDrivers = () => Promise.all(agents.flatMap(({ loadDriver }) => loadDriver?.() ?? []))
