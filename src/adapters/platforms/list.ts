import type { Platform } from "../../domain/platform.ts"
import { aider } from "./aider.ts"
import { antigravity, antigravityIde } from "./antigravity.ts"
import { claudeCode } from "./claude-code.ts"
import { cline } from "./cline.ts"
import { codex } from "./codex.ts"
import { conversationLog } from "./conversation-log.ts"
import { copilotCli } from "./copilot-cli.ts"
import { copilotVscode } from "./copilot-vscode.ts"
import { cursor } from "./cursor.ts"
import { cursorCli } from "./cursor-cli.ts"
import { geminiCli } from "./gemini-cli.ts"
import { kilo } from "./kilo.ts"
import { opencode } from "./opencode.ts"
import { kiloLegacy, roo } from "./roo.ts"

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
