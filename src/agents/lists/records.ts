import type { Platform } from "../../domain/platform.ts"
import { aider } from "../aider/records.ts"
import { antigravity, antigravityIde } from "../antigravity/records.ts"
import { claudeCode } from "../claude-code/records.ts"
import { cline } from "../cline/records.ts"
import { codex } from "../codex/records.ts"
import { conversationLog } from "../conversation-log/records.ts"
import { copilotCli } from "../copilot-cli/records.ts"
import { copilotVscode } from "../copilot-vscode/records.ts"
import { cursor } from "../cursor/records.ts"
import { cursorCli } from "../cursor-cli/records.ts"
import { geminiCli } from "../gemini-cli/records.ts"
import { kilo } from "../kilo/records.ts"
import { opencode } from "../opencode/records.ts"
import { kiloLegacy, roo } from "../roo/records.ts"

/** Every platform that is captured. To add one, write its file and name it here. */
export const platforms: readonly Platform[] = [
  claudeCode,
  codex,
  geminiCli,
  antigravity,
  antigravityIde,
  opencode,
  kilo,
  copilotVscode,
  copilotCli,
  cursor,
  cursorCli,
  cline,
  roo,
  kiloLegacy,
  aider,
  conversationLog,
]
