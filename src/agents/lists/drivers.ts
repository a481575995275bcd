import type { Driver } from "../../domain/driver.ts"
import { createClaudeCodeDriver } from "../claude-code/driver.ts"
import { createCodexDriver } from "../codex/driver.ts"
import { createGeminiCliDriver } from "../gemini-cli/driver.ts"
import { createOpencodeDriver } from "../opencode/driver.ts"

/** All that can run sessions in processes of ours. Each may hold processes: to be made once, and closed. */
export const createDrivers = (): Driver[] => [
  createClaudeCodeDriver(),
  createCodexDriver(),
  createGeminiCliDriver(),
  createOpencodeDriver(),
]
