import { createAcpDriver } from "../shared/driver/acp.ts"
import type { AcpQuestion } from "../shared/driver/acp-turn.ts"
import { COMMON } from "../shared/driver/start.ts"

// It would relaunch itself with more memory, and that process would survive a kill.
const env = { GEMINI_CLI_NO_RELAUNCH: "true" }

/** The title alone is not proof: a shell command's title is the command. Only MCP tools offer to trust the server. */
function isOwnTool({ toolCall, options }: AcpQuestion): boolean {
  const isServers = options.some(({ optionId }) => optionId === "proceed_always_server")
  return isServers && /^[\w.-]+ \(throughline MCP Server\)$/.test(toolCall.title ?? "")
}

export const createGeminiCliDriver = () =>
  createAcpDriver({
    platform: "gemini-cli",
    program: "gemini",
    args: ["--acp"],
    // Session files are named by the minute: resuming within the same minute overwrites the file.
    can: { ...COMMON, resumeAfterMs: 61_000, fork: false, compact: false, shared: false },
    isOwnTool,
    modes: {
      default: { id: "default", env },
      acceptEdits: { id: "autoEdit", env },
      plan: { id: "plan", env },
      bypassPermissions: { id: "yolo", env },
    },
  })
