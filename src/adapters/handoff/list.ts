import type { PromptTaker, Successor } from "../../domain/handoff.ts"
import { claudeCode } from "./claude-code.ts"
import { codex } from "./codex.ts"

/** Agents that take a first prompt where they are started, and go on in the terminal. */
const promptTakers: readonly PromptTaker[] = [
  { platform: "gemini-cli", begin: ["gemini", "-i"] },
  { platform: "opencode", begin: ["opencode", "--prompt"] },
  { platform: "kilo", begin: ["kilo", "--prompt"] },
  { platform: "cursor-cli", begin: ["cursor-agent"] },
  { platform: "copilot-cli", begin: ["copilot", "-i"] },
]

/** Who can go on with another's conversation. To any other platform a brief is handed over as a file. */
export const successors: readonly Successor[] = [claudeCode, codex, ...promptTakers]
