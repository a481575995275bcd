import { createAcpDriver } from "../shared/driver/acp.ts"
import { COMMON } from "../shared/driver/start.ts"

/** It asks for hardly anything by default. The user's own environment overrides this. */
const asks = (...tools: string[]) => ({
  OPENCODE_PERMISSION: JSON.stringify(Object.fromEntries(tools.map((tool) => [tool, "ask"]))),
})

/** A process takes half a gigabyte, so one serves all sessions. */
export const createOpencodeDriver = () =>
  createAcpDriver({
    platform: "opencode",
    program: "opencode",
    args: ["acp"],
    can: {
      ...COMMON,
      // Its "always" applies to all sessions of the project, and to commands that it does not name.
      suggestions: false,
      // It reports the last answer's tokens, not the turn's.
      usage: false,
      ownServer: false,
    },
    modes: {
      default: { id: "build", env: asks("bash", "edit", "webfetch") },
      acceptEdits: { id: "build", env: asks("bash", "webfetch") },
      plan: { id: "plan", env: asks("bash", "edit", "webfetch") },
      bypassPermissions: { id: "build", env: {} },
    },
    compactPrompt: "/compact",
  })
