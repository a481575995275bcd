import type { Driver } from "../../domain/driver.ts"
import { createClaudeCodeDriver } from "./claude-code.ts"
import { createCodexDriver } from "./codex.ts"
import { createGeminiCliDriver } from "./gemini-cli.ts"
import { createOpencodeDriver } from "./opencode.ts"

/** All that can run sessions in processes of ours. Each may hold processes: to be made once, and closed. */
export const createDrivers = (): Driver[] => [
  createClaudeCodeDriver(),
  createCodexDriver(),
  createGeminiCliDriver(),
  createOpencodeDriver(),
]
