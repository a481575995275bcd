import type { AgentSetup } from "../../domain/setup.ts"
import { claudeCode } from "../claude-code/setup.ts"
import { codex } from "../codex/setup.ts"
import { cursor } from "../cursor/setup.ts"
import { geminiCli } from "../gemini-cli/setup.ts"
import { opencode } from "../opencode/setup.ts"

/** Every agent that `throughline setup` knows. To add one, write its file and name it here. */
export const agents: readonly AgentSetup[] = [claudeCode, codex, geminiCli, cursor, opencode]
