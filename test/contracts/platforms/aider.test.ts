import { appendFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { aider } from "../../../src/agents/aider/records.ts"
import type { Capture } from "../../../src/domain/capture.ts"
import type { WholeReader } from "../../../src/domain/platform.ts"
import { platformContract, readAll } from "../platform.ts"

const HISTORY = `
# aider chat started at 2026-08-01 10:00:00

> /usr/bin/aider --model sonnet  
> Aider v0.90.1  
> Main model: claude-sonnet-5 with diff edit format  
> Git repo: .git with 12 files  

#### rename foo to bar  
#### everywhere  

I renamed it.

#### Notes

> quoted output  

> Tokens: 2.1k sent, 90 received.  
> Applied edit to src/ä.ts  

#### /undo  

> Reset to 1a2b3c  

# aider chat started at 2026-08-01 11:30:05

> Aider v0.90.1  

# aider chat started at 2026-08-02 09:00:00

#### <blank>  

#### hello  
`

const TURNS = [
  { kind: "prompt", text: "rename foo to bar\neverywhere", atMs: new Date(2026, 7, 1, 10, 0, 0).getTime() },
  { kind: "reply", text: "I renamed it.\n\n#### Notes", model: "claude-sonnet-5" },
  { kind: "tool_result", text: "quoted output\nTokens: 2.1k sent, 90 received.\nApplied edit to src/ä.ts" },
  { kind: "prompt", text: "/undo" },
  { kind: "tool_result", text: "Reset to 1a2b3c" },
  { kind: "prompt", text: "hello", atMs: new Date(2026, 7, 2, 9, 0, 0).getTime() },
]

/** Session ids are made of the path, so that expectations are made of what is found. */
async function found(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<{ dir: string; captures: Capture[] }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "aider-")))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  const named = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace("~", dir)]))
  const captures = await readAll(aider, { os: "linux", homeDir: dir, env: named })
  return { dir, captures }
}

platformContract(aider, [
  { name: "a home without a history", files: { "notes.md": "# hello" }, unclaimed: ["notes.md"], expected: {} },
])

test("one file holds many sessions; each is read with its turns", async () => {
  const { dir, captures } = await found({ ".aider.chat.history.md": HISTORY })
  const sessions = captures.filter((capture) => capture.type === "session")
  const turns = captures.filter((capture) => capture.type === "turn")
  expect(sessions).toMatchObject([
    {
      projectPath: dir,
      title: { text: "rename foo to bar", from: "prompt" },
      model: "claude-sonnet-5",
      agentVersion: "0.90.1",
      startedAtMs: new Date(2026, 7, 1, 10, 0, 0).getTime(),
    },
    { title: { text: "hello", from: "prompt" }, startedAtMs: new Date(2026, 7, 2, 9, 0, 0).getTime() },
  ])
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(2)
  expect(turns).toMatchObject(TURNS)
  rmSync(dir, { recursive: true })
})

test("a growing file changes nothing that was read, and lets its last turn grow", async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "aider-")))
  const path = join(dir, ".aider.chat.history.md")
  const claim = aider.claim({ path, relative: ".aider.chat.history.md", place: aider.projectPlaces!(dir)[0]! })
  const read = () => (claim!.reader as WholeReader).read(path)
  writeFileSync(path, HISTORY)
  const first = await read()
  appendFileSync(path, "\nHello to")
  appendFileSync(path, " you\n\n")
  const second = await read()
  expect(second.slice(0, first.length)).toEqual(first)
  expect(second.at(-1)).toMatchObject({ kind: "reply", text: "Hello to you" })
  rmSync(dir, { recursive: true })
})

test("a history that is named elsewhere is read, and one whose line ends were trimmed", async () => {
  const trimmed = HISTORY.replaceAll("  \n", "\n")
  const { dir, captures } = await found({ "mine.md": trimmed }, { AIDER_CHAT_HISTORY_FILE: "~/mine.md" })
  const prompts = captures.flatMap((capture) =>
    capture.type === "turn" && capture.kind === "prompt" ? [capture.text] : [],
  )
  expect(prompts).toEqual(["rename foo to bar\neverywhere", "Notes", "/undo", "hello"])
  rmSync(dir, { recursive: true })
})
