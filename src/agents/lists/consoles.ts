import type { AgentConsole } from "../../domain/agent-console.ts"
import { claudeCode } from "../claude-code/console.ts"
import { codex } from "../codex/console.ts"

/** Agents that can be reached in a terminal. */
export const consoles: readonly AgentConsole[] = [claudeCode, codex]
