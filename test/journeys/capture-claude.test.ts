import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLAUDES, type ClaudeRun, runClaude } from "../fixtures/agents.ts"
import { countsOf, isCaptured, showSession } from "../fixtures/captured.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { anthropicMessages, type ModelApi, startModelApi, text, toolUse, wordsOf } from "../fixtures/model-api.ts"

const TASK = "Count the stones."
const SUMMARY = "They counted stones."
/** Four starts of the agent, where much else runs. */
const SLOW_MS = 240_000

describe.each(CLAUDES)("a conversation with Claude Code $version", ({ name }) => {
  isCaptured({
    platform: "claude-code",
    wire: anthropicMessages,
    folder: ".claude",
    run: (run) => runClaude({ ...run, which: name }),
    reads: (path) => toolUse("Read", { file_path: path }),
    resumeCommand: (id) => `claude --resume ${id}`,
  })
})

describe.each(CLAUDES)("Claude Code $version", ({ name }) => {
  let home: TestHome
  let model: ModelApi
  let nativeId: string
  beforeAll(async () => {
    home = makeHome()
    mkdirSync(join(home.env.HOME!, "lake"))
    model = await startModelApi(anthropicMessages)
    await home.json("sources")
    model.script(({ body, turn }) => {
      const messages = body.messages as unknown[]
      if (wordsOf(messages[0]).includes(TASK)) return [text("There are seven.")]
      if (/summary of the conversation/i.test(wordsOf(messages.at(-1)))) return [text(`<summary>${SUMMARY}</summary>`)]
      const agent = { description: "Count", prompt: TASK, subagent_type: "general-purpose" }
      return turn === 0 ? [toolUse("Agent", agent)] : [text("All is well.")]
    })
  })
  afterAll(async () => {
    await model.close()
    await home.dispose()
  })

  /** One run, and the resulting session. */
  const say = async (prompt: string, more: Pick<ClaudeRun, "resume" | "args"> = {}) => {
    const cwd = join(home.env.HOME!, "lake")
    const answer = await runClaude({ home, which: name, modelUrl: model.url, cwd, prompt, ...more })
    expect(answer.code, answer.stderr).toBe(0)
    await home.json("import")
    return { id: answer.nativeSession, ...(await showSession(home, "claude-code", answer.nativeSession))! }
  }
  const kindsAndTexts = (turns: { kind: string; text: string }[]) => turns.map((turn) => `${turn.kind}: ${turn.text}`)

  test("has a sub-agent's words in a session of its own, which leads to the one that sent it", async () => {
    const { id, turns } = await say("Ask somebody.")
    nativeId = id
    expect(turns.map((turn) => turn.kind).slice(0, 4)).toEqual(["prompt", "tool_call", "tool_result", "reply"])
    const { sessions } = await home.json<{ sessions: { nativeId: string }[] }>("sessions", "--subagents")
    const sent = sessions.find((session) => session.nativeId.startsWith(`${id}/`))!
    const { session, lineage, turns: did } = (await showSession(home, "claude-code", sent.nativeId))!
    expect(kindsAndTexts(did)).toEqual([`prompt: ${TASK}`, "reply: There are seven."])
    expect(lineage).toEqual([{ kind: "subagent", parentNativeId: id }])
    expect(session).toMatchObject({ subagent: true, title: TASK })
    expect(session.resumeCommand).toBeUndefined()
  })

  test("stores a fork as a session of its own, with its inherited turns, linked to the unchanged original", async () => {
    const before = (await showSession(home, "claude-code", nativeId))!
    const fork = await say("Or walk round?", { resume: nativeId, args: ["--fork-session"] })
    expect(fork.id).not.toBe(nativeId)
    expect(fork.lineage).toEqual([{ kind: "fork", parentNativeId: nativeId }])
    expect(kindsAndTexts(fork.turns)).toEqual([
      ...kindsAndTexts(before.turns),
      "prompt: Or walk round?",
      "reply: All is well.",
    ])
    expect(await showSession(home, "claude-code", nativeId)).toEqual(before)
  })

  test("stores the turns before a compaction, then the compaction, then the summary", async () => {
    const before = (await showSession(home, "claude-code", nativeId))!
    const compacted = await say("/compact", { resume: nativeId })
    expect(compacted.id).toBe(nativeId)
    const { turns } = await say("And now?", { resume: nativeId })
    expect(turns.slice(0, before.turns.length)).toEqual(before.turns)
    expect(turns.slice(before.turns.length)).toMatchObject([
      { kind: "prompt", text: "/compact" },
      { kind: "reset" },
      { kind: "summary", text: expect.stringContaining(SUMMARY) },
      { kind: "prompt", text: "And now?" },
      { kind: "reply", text: "All is well." },
    ])
    expect(await countsOf(home, "claude-code")).toMatchObject({ sessions: 3, unknown: 0, unreadable: 0 })
  })

  test(
    "marks the turns after the reply that it was resumed from as rewound",
    async () => {
      const first = await say("Shall we swim?")
      const folder = join(home.env.HOME!, ".claude", "projects")
      const file = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) =>
        path.endsWith(`${first.id}.jsonl`),
      )!
      const records = readFileSync(join(folder, file), "utf8").split("\n").filter(Boolean)
      const replies = records.map((line) => JSON.parse(line)).filter(({ type }) => type === "assistant")
      const before = (await say("In the rain?", { resume: first.id })).turns
      expect(kindsAndTexts(before).slice(first.turns.length)).toEqual(["prompt: In the rain?", "reply: All is well."])
      const args = ["--resume-session-at", String(replies.at(-1)!.uuid)]
      const { turns } = await say("In the sun?", { resume: first.id, args })
      const live = [...kindsAndTexts(first.turns), "prompt: In the sun?", "reply: All is well."]
      expect(kindsAndTexts(turns)).toEqual(live)
      await say("And then?", { resume: first.id })
      expect(kindsAndTexts((await showSession(home, "claude-code", first.id))!.turns)).toEqual([
        ...live,
        "prompt: And then?",
        "reply: All is well.",
      ])
    },
    SLOW_MS,
  )
})
