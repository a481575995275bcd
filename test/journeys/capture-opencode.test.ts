import { describe } from "vitest"
import { runOpencode } from "../fixtures/agents.ts"
import { isCaptured } from "../fixtures/captured.ts"
import { toolUse } from "../fixtures/model-api.ts"
import { openaiChat } from "../fixtures/model-api-chat.ts"

describe("a conversation with opencode", () => {
  isCaptured({
    platform: "opencode",
    wire: openaiChat,
    folder: ".local/share/opencode",
    run: runOpencode,
    reads: (path) => toolUse("read", { filePath: path }),
    title: "ok",
    resumeCommand: (id) => `opencode -s ${id}`,
  })
})
