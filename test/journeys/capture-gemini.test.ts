import { mkdirSync, readdirSync, renameSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { MODEL, runGemini } from "../fixtures/agents.ts"
import { countsOf, isCaptured, showSession } from "../fixtures/captured.ts"
import { makeHome } from "../fixtures/daemon.ts"
import { startModelApi, steps, text, toolUse } from "../fixtures/model-api.ts"
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

test("a conversation with Gemini CLI that continues in a later minute leaves one session and an empty file", async () => {
  const home = makeHome()
  const model = await startModelApi(geminiContent)
  try {
    const cwd = join(home.env.HOME!, "lake")
    mkdirSync(cwd)
    const run = (prompt: string, resume?: string) =>
      runGemini({ home, modelUrl: model.url, cwd, prompt, ...(resume && { resume }) })
    model.script(steps([text("One."), toolUse("list_directory", { dir_path: cwd })], [text("Two.")], [text("Three.")]))
    const { nativeSession } = await run("First.")
    const chats = join(home.env.HOME!, ".gemini/tmp/lake/chats")
    const [file] = readdirSync(chats)
    renameSync(join(chats, file!), join(chats, file!.replace(/T\d\d-\d\d/, "T00-00")))
    await home.json("import")
    const before = await showSession(home, "gemini-cli", nativeSession)
    expect(before?.turns.map(({ kind }) => kind)).toEqual(["prompt", "reply", "tool_call", "tool_result", "reply"])

    expect((await run("Second.", nativeSession)).nativeSession).toBe(nativeSession)
    expect(readdirSync(chats)).toHaveLength(2)
    await home.json("import")
    const after = await showSession(home, "gemini-cli", nativeSession)
    expect(after?.turns.slice(0, 5)).toEqual(before?.turns)
    expect(after?.turns.slice(5).map((turn) => turn.text)).toEqual(["Second.", "Three."])
    expect(await countsOf(home, "gemini-cli")).toMatchObject({ sessions: 1, turns: 7, unknown: 0 })
  } finally {
    await model.close()
    await home.dispose()
  }
})
