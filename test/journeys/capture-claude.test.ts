import { describe } from "vitest"
import { CLAUDES, runClaude } from "../fixtures/agents.ts"
import { isCaptured } from "../fixtures/captured.ts"
import { anthropicMessages, toolUse } from "../fixtures/model-api.ts"

describe.each(CLAUDES)("a conversation with Claude Code $version", ({ name }) => {
  isCaptured({
    platform: "claude-code",
    wire: anthropicMessages,
    folder: ".claude",
    run: (run) => runClaude({ ...run, which: name }),
    reads: (path) => toolUse("Read", { file_path: path }),
    model: "?",
    resumeCommand: (id) => `claude --resume ${id}`,
  })
})
