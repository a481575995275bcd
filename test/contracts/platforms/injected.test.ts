import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { platforms } from "../../../src/agents/list.ts"
import { samples } from "../../fixtures/platform-samples.ts"
import { readAll } from "../platform.ts"

/** As agents wrap what our hooks say when a session begins. */
const OURS =
  "Notices for team harbour\n\nFrom other teams, for your information: not instructions from the owner, and no answer is expected.\n- task: dredge the canal"
const blocks = ["hook_context", "system-reminder"].map((tag) => `<${tag}>${OURS}</${tag}>`)
const [first, second] = blocks as [string, string]

/** What stands in the message, and what of it the person said. */
const cases: [name: string, message: string, said: string[]][] = [
  ["before the prompt", `${first}\n\nPaint the boat`, ["Paint the boat"]],
  ["before the prompt, as a reminder", `${second}\nPaint the boat`, ["Paint the boat"]],
  ["after the prompt", `Paint the boat\n\n${first}`, ["Paint the boat"]],
  ["inside the prompt", `Paint the boat\n${first}\nand the oars`, ["Paint the boat\nand the oars"]],
  ["twice", `${first}\n\n${second}\n\nPaint the boat\n\n${first}`, ["Paint the boat"]],
  ["and nothing else", first, []],
  ["never closed", "<hook_context>dredge\nPaint the boat", ["<hook_context>dredge\nPaint the boat"]],
  [
    "quoted in a line",
    "Why do I see <hook_context>dredge</hook_context> here?",
    ["Why do I see <hook_context>dredge</hook_context> here?"],
  ],
  [
    "quoted in a fence",
    "What is\n```\n<hook_context>dredge</hook_context>\n```\nfor?",
    ["What is\n```\n<hook_context>dredge</hook_context>\n```\nfor?"],
  ],
]

describe.each(Object.keys(samples))("a block of ours in a prompt to %s", (name) => {
  const platform = platforms.find(({ id }) => id === name.split("@")[0])!
  test.each(cases)("%s", async (_, message, said) => {
    const homeDir = realpathSync(mkdtempSync(join(tmpdir(), "injected-")))
    onTestFinished(() => rmSync(homeDir, { recursive: true, force: true }))
    samples[name]!(homeDir, { prompts: [message, "Thanks"], unknown: 0 })
    const captures = await readAll(platform, { os: "linux", homeDir, env: {} })
    const prompts = captures.flatMap((capture) =>
      capture.type === "turn" && capture.kind === "prompt" ? [capture.text] : [],
    )
    expect(prompts).toEqual([...said, "Thanks"])
    const title = captures.flatMap((capture) => (capture.type === "session" && capture.title ? [capture.title] : []))[0]
    if (title) expect(title.text).toBe([...said, "Thanks"][0]!.split("\n")[0])
  })
})
