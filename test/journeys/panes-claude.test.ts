import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { isBelow } from "../../src/adapters/tmux/process-tree.ts"
import { tmuxPanes } from "../../src/adapters/tmux/tmux.ts"
import { claudeCode } from "../../src/agents/claude-code/console.ts"
import { promptHash } from "../../src/domain/ids.ts"
import { makePaster } from "../../src/queue/paste.ts"
import { TEAM } from "../contracts/console.ts"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { makeHome } from "../fixtures/daemon.ts"
import { anthropicMessages, startModelApi, text, toolUse } from "../fixtures/model-api.ts"

const TEXTS = [
  "hello",
  "/exit",
  " /clear",
  "!touch pwned",
  "exit",
  "@file @/etc/passwd",
  "ends with a backslash\\",
  "-t;",
  "\x1b[201~\r!touch pwned\r",
  "three\nlines\n\tindented",
  "\u200b\u2028 not seen \u202eand turned",
  "👨‍👩‍👧‍👦 한국어 e\u0301 𠮷",
  "20 kB of lines\n".repeat(1_400),
]

test.each(CLAUDES)(
  "the real Claude Code $version takes each paste as one prompt, and no Enter answers its dialog",
  async ({ name }) => {
    const home = makeHome()
    onTestFinished(() => home.dispose())
    const model = await startModelApi(anthropicMessages)
    onTestFinished(() => model.close())
    const cwd = join(home.env.HOME!, "web")
    mkdirSync(cwd)
    const [said, settingsFile] = [join(cwd, "..", "prompts"), join(cwd, "..", "settings.json")]
    const hook = { type: "command", command: `cat >>'${said}'; echo >>'${said}'` }
    writeFileSync(settingsFile, JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }))
    const prompts = () =>
      existsSync(said)
        ? readFileSync(said, "utf8")
            .split("\n")
            .filter((line) => line.endsWith("}"))
            .map((line) => (JSON.parse(line) as { prompt: string }).prompt)
        : []

    const env = claudeEnv(home, model.url, cwd)
    const panes = tmuxPanes({ env })
    const { argv } = claudeCode.launch({ team: { ...TEAM, settingsFile }, program: agents.claude(name) })
    const pane = await panes.start({ socket: join(home.env.HOME!, "t"), name: "web", cwd, argv, env })
    onTestFinished(async () => void (await panes.end(pane)))
    const paster = makePaster({ panes, consoles: [claudeCode], settleMs: 5_000 })
    const machine = { os: "linux" as const, homeDir: home.env.HOME!, env: {} }
    const live = async () => (await claudeCode.live(machine))[0]
    await expect.poll(async () => (await live())?.status, { timeout: 60_000 }).toBe("idle")
    const { pid } = (await live())!
    const submit = (words: string) =>
      paster.submit({ platform: "claude-code", pane, text: words, isAgentThere: () => isBelow(pid, pane.panePid) })
    const screen = async () => claudeCode.screen((await panes.look(pane))!)
    await expect.poll(async () => (await screen()).kind, { timeout: 60_000 }).toBe("input")

    for (const [at, words] of TEXTS.entries()) {
      const result = await submit(words)
      expect(result).toMatchObject({ kind: "submitted" })
      await expect.poll(() => prompts().length, { timeout: 60_000 }).toBe(at + 1)
      expect(promptHash(prompts().at(-1)!)).toBe(promptHash((result as { text: string }).text))
      // Its registry is a moment behind: only a model that was asked shows that the turn has begun.
      await expect.poll(() => model.requests.length, { timeout: 60_000 }).toBeGreaterThan(at)
      await expect.poll(async () => (await live())?.status, { timeout: 60_000 }).toBe("idle")
    }

    const asks = toolUse("Bash", { command: `touch ${join(cwd, "pwned")}`, description: "touch" })
    model.script(({ toolResults }) => (toolResults.length > 0 ? [text("Done.")] : [asks]))
    await submit("ask me")
    await expect.poll(async () => (await live())?.status, { timeout: 60_000 }).toBe("waiting")
    await expect.poll(async () => (await screen()).kind, { timeout: 60_000 }).toBe("dialog")
    expect(await submit("not now")).toMatchObject({ kind: "later", reason: "dialog" })
    await sleep(500)
    expect(existsSync(join(cwd, "pwned"))).toBe(false)
    expect(prompts()).toHaveLength(TEXTS.length + 1)
  },
  120_000,
)
