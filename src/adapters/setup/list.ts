import type { AgentSetup } from "../../domain/setup.ts"
import { claudeCode } from "./claude-code.ts"
import { codex } from "./codex.ts"
import { cursor } from "./cursor.ts"
import { geminiCli } from "./gemini-cli.ts"
import { opencode } from "./opencode.ts"

/** Every agent that `throughline setup` knows. To add one, write its file and name it here. */
export const agents: readonly AgentSetup[] = [claudeCode, codex, geminiCli, cursor, opencode]
