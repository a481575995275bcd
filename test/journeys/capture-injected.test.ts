import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { type AgentAnswer, type AgentRun, runClaude, runCodex, runGemini } from "../fixtures/agents.ts"
import { countsOf, showSession } from "../fixtures/captured.ts"
import { makeHome } from "../fixtures/daemon.ts"
import { anthropicMessages, startModelApi, text, type Wire, wordsOf } from "../fixtures/model-api.ts"
import { geminiContent } from "../fixtures/model-api-gemini.ts"
import { openaiResponses } from "../fixtures/model-api-responses.ts"

interface Told {
  platform: string
  wire: Wire
  settings: string
  events: string[]
  run(run: AgentRun): Promise<AgentAnswer>
}

const AGENTS: Told[] = [
  {
    platform: "gemini-cli",
    wire: geminiContent,
    settings: ".gemini/settings.json",
    events: ["SessionStart", "BeforeAgent"],
    run: runGemini,
  },
  {
    platform: "claude-code",
    wire: anthropicMessages,
    settings: ".claude/settings.json",
    events: ["SessionStart", "UserPromptSubmit"],
    run: (run) => runClaude({ ...run, which: "claude-new" }),
  },
  {
    platform: "codex",
    wire: openaiResponses,
    settings: ".codex/hooks.json",
    events: ["SessionStart", "UserPromptSubmit"],
    run: (run) => runCodex({ ...run, args: ["--dangerously-bypass-hook-trust"] }),
  },
]

/** Gemini CLI puts what a hook says before the prompt, in the same message, when it runs with -p. */
test.each(AGENTS)(
  "text that hooks inject into $platform is not stored as the person's words, and their prompt is",
  {
    timeout: 120_000,
  },
  async ({ platform, wire, settings, events, run }) => {
    const home = makeHome()
    const model = await startModelApi(wire)
    onTestFinished(async () => {
      await model.close()
      await home.dispose()
    })
    const cwd = join(home.env.HOME!, "lake")
    mkdirSync(cwd)
    const told = (event: string) => ({
      hookSpecificOutput: { hookEventName: event, additionalContext: `# Told at ${event}\n\ndredge the <canal>` },
    })
    const hooks = Object.fromEntries(
      events.map((event) => [
        event,
        [{ hooks: [{ type: "command", command: `cat ${join(home.env.HOME!, event)}`, timeout: 5_000 }] }],
      ]),
    )
    for (const event of events) writeFileSync(join(home.env.HOME!, event), JSON.stringify(told(event)))
    mkdirSync(dirname(join(home.env.HOME!, settings)), { recursive: true })
    writeFileSync(join(home.env.HOME!, settings), JSON.stringify({ hooks }))
    model.script(() => [text("Painted.")])

    const { code, nativeSession, stderr } = await run({ home, modelUrl: model.url, cwd, prompt: "Paint the boat." })
    expect(code, stderr).toBe(0)
    const heard = wordsOf(model.requests.at(-1)!.body)
    for (const event of events) expect(heard).toContain(`Told at ${event}`)
    await home.json("import")
    const kept = await showSession(home, platform, nativeSession)
    expect(kept?.turns.map((turn) => [turn.kind, turn.text])).toEqual([
      ["prompt", "Paint the boat."],
      ["reply", "Painted."],
    ])
    expect(kept?.session.title).toBe("Paint the boat.")
    expect(await countsOf(home, platform)).toMatchObject({ unknown: 0, unreadable: 0 })
  },
)
