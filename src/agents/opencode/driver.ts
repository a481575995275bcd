import { createAcpDriver } from "../shared/driver/acp.ts"

/** By itself it asks for hardly anything. What the user has set in the environment stands above this. */
const asks = (...tools: string[]) => ({
  OPENCODE_PERMISSION: JSON.stringify(Object.fromEntries(tools.map((tool) => [tool, "ask"]))),
})

/** Half a gigabyte per process, so one process serves all its sessions. */
export const createOpencodeDriver = () =>
  createAcpDriver({
    platform: "opencode",
    program: "opencode",
    args: ["acp"],
    can: {
      chooseId: false,
      resume: true,
      resumeAfterMs: 0,
      fork: true,
      compact: true,
      // Its "always" holds for all sessions of the project, and for commands that it does not name.
      suggestions: false,
      updatedInput: false,
      denyReason: false,
      settings: false,
      // It tells those of the last answer, not of the turn.
      usage: false,
      shared: true,
      ownServer: false,
      ping: true,
    },
    modes: {
      default: { id: "build", env: asks("bash", "edit", "webfetch") },
      acceptEdits: { id: "build", env: asks("bash", "webfetch") },
      plan: { id: "plan", env: asks("bash", "edit", "webfetch") },
      bypassPermissions: { id: "build", env: {} },
    },
    compactPrompt: "/compact",
  })
