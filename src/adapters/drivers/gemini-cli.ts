import { createAcpDriver } from "./acp.ts"

// It would start itself anew with more memory, and that one outlives a process that is killed.
const env = { GEMINI_CLI_NO_RELAUNCH: "true" }

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
    modes: {
      default: { id: "default", env },
      acceptEdits: { id: "autoEdit", env },
      plan: { id: "plan", env },
      bypassPermissions: { id: "yolo", env },
    },
  })
