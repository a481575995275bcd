import { describe } from "vitest"
import { runCodex } from "../fixtures/agents.ts"
import { isCaptured } from "../fixtures/captured.ts"
import { toolUse } from "../fixtures/model-api.ts"
import { openaiResponses } from "../fixtures/model-api-responses.ts"

describe("a conversation with Codex", () => {
  isCaptured({
    platform: "codex",
    wire: openaiResponses,
    folder: ".codex",
    run: runCodex,
    reads: (path) => toolUse("exec_command", { cmd: `cat '${path}'` }),
    resumeCommand: (id) => `codex resume ${id}`,
  })
})
