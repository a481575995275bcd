import { createAcpDriver } from "../shared/driver/acp.ts"
import type { AcpQuestion } from "../shared/driver/acp-turn.ts"

// It would start itself anew with more memory, and that one outlives a process that is killed.
const env = { GEMINI_CLI_NO_RELAUNCH: "true" }

/** The title alone would not do: that of a shell command is the command. Only for a server's tools the whole server is offered. */
function isOwnTool({ toolCall, options }: AcpQuestion): boolean {
  const isServers = options.some(({ optionId }) => optionId === "proceed_always_server")
  return isServers && /^[\w.-]+ \(throughline MCP Server\)$/.test(toolCall.title ?? "")
}

export const createGeminiCliDriver = () =>
  createAcpDriver({
    platform: "gemini-cli",
    program: "gemini",
    args: ["--acp"],
    can: {
      chooseId: false,
      resume: true,
      // It names a session's file by the minute: resumed within the same one, it begins the file anew.
      resumeAfterMs: 61_000,
      fork: false,
      compact: false,
      suggestions: true,
      updatedInput: false,
      denyReason: false,
      settings: false,
      usage: true,
      shared: false,
      ownServer: true,
      ping: true,
    },
    isOwnTool,
    modes: {
      default: { id: "default", env },
      acceptEdits: { id: "autoEdit", env },
      plan: { id: "plan", env },
      bypassPermissions: { id: "yolo", env },
    },
  })
