import { mkdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "vitest"
import { runCodex } from "../fixtures/agents.ts"
import { isCaptured, sawSoon } from "../fixtures/captured.ts"
import { makeHome } from "../fixtures/daemon.ts"
import { startModelApi, text, toolUse } from "../fixtures/model-api.ts"
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

test("sessions are captured behind a symlink, and in a folder that was deleted and recreated", async () => {
  const home = makeHome()
  const model = await startModelApi(openaiResponses)
  try {
    const [cwd, elsewhere] = [join(home.env.HOME!, "lake"), join(home.env.HOME!, "elsewhere")]
    for (const dir of [cwd, elsewhere, join(home.env.HOME!, ".codex")]) mkdirSync(dir)
    const sessions = join(home.env.HOME!, ".codex", "sessions")
    symlinkSync(elsewhere, sessions)
    await home.json("sources")
    const isSeen = async (words: string) => {
      model.script(() => [text(words)])
      const { nativeSession } = await runCodex({ home, modelUrl: model.url, cwd, prompt: "Say something." })
      await sawSoon(home, "codex", nativeSession, words)
    }
    await isSeen("The first one behind the link.")
    await isSeen("The second one behind the link.")
    rmSync(sessions)
    await isSeen("The first one in the new folder.")
    await isSeen("The second one in the new folder.")
  } finally {
    await model.close()
    await home.dispose()
  }
})
