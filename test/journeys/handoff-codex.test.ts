import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type CodexTerminal, openCodex } from "../fixtures/codex-terminal.ts"
import { text } from "../fixtures/model-api.ts"
import { samples } from "../fixtures/platform-samples.ts"

const SOON = { timeout: 60_000, interval: 200 }
const DRAWN_MS = 15_000

describe("a session that is handed off to Codex while its shared daemon runs", () => {
  let at: CodexTerminal
  beforeAll(async () => {
    at = await openCodex()
    at.model.script(() => [text("Rubber boots.")])
    const home = at.home.env.HOME!
    samples["claude-code"]!(home, { prompts: ["Which way is drier?"], unknown: 0 }, at.cwd)
  }, 240_000)
  afterAll(() => at.dispose())

  const asks = async (id: string, words: string) => {
    let typedAtMs = 0
    await expect
      .poll(() => {
        const isShown = at.terminal.lines().join("\n").includes(words)
        // A slow machine draws it late, and what is typed again by then is there twice.
        if (!isShown && Date.now() - typedAtMs > DRAWN_MS) {
          at.terminal.type(words)
          typedAtMs = Date.now()
        } else if (isShown) at.terminal.key("Enter")
        return at.prompts(id)
      }, SOON)
      .toContain(words)
  }
  const firstRecord = (id: string) => {
    const dir = join(at.home.env.HOME!, ".codex/sessions")
    const name = readdirSync(dir, { recursive: true }).find((path) => String(path).includes(id))
    const [line] = readFileSync(join(dir, String(name)), "utf8").split("\n")
    return JSON.parse(line!).payload as Record<string, unknown>
  }

  test("is opened and answered by the command that is printed", { timeout: 240_000 }, async () => {
    // Starts the daemon, which stays.
    const own = await at.start()
    await asks(own, "Hello?")
    await at.home.json("import")
    const { sessions } = await at.home.json<{ sessions: { id: string }[] }>("sessions", "--platform", "claude-code")
    const made = await at.home.json<{ nativeId: string; command: string }>("handoff", sessions[0]!.id, "--to", "codex")
    expect(made.command).toContain(`codex resume ${made.nativeId}`)

    expect(await at.start(made.nativeId)).toBe(made.nativeId)
    await asks(made.nativeId, "Which shoes?")
    expect(at.prompts(made.nativeId)).toContain("Which way is drier?")
    await at.terminal.shows("Rubber boots.")

    const [theirs, ours] = [firstRecord(own), firstRecord(made.nativeId)]
    expect(ours.model_provider).toBe("loopback")
    expect(Object.keys(theirs).filter((name) => !(name in ours) && !ITS_OWN.has(name))).toEqual([])
  })
})

/** Codex's own defaults for absent fields. */
const ITS_OWN = new Set("base_instructions git history_mode runtime_workspace_roots context_window".split(" "))
