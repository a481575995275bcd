import { describe } from "vitest"
import { MODEL, runGemini } from "../fixtures/agents.ts"
import { isCaptured } from "../fixtures/captured.ts"
import { toolUse } from "../fixtures/model-api.ts"
import { geminiContent } from "../fixtures/model-api-gemini.ts"

describe("a conversation with Gemini CLI", () => {
  isCaptured({
    platform: "gemini-cli",
    wire: geminiContent,
    folder: ".gemini",
    run: runGemini,
    reads: (path) => toolUse("read_file", { file_path: path }),
    model: MODEL,
    resumeCommand: (id) => `gemini --resume ${id}`,
  })
})
