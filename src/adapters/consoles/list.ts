import type { AgentConsole } from "../../domain/agent-console.ts"
import { claudeCode } from "./claude-code.ts"
import { codex } from "./codex.ts"

/** Agents that can be reached in a terminal. */
export const consoles: readonly AgentConsole[] = [claudeCode, codex]
