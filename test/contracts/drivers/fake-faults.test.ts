import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { afterEach, describe, expect, test } from "vitest"
import { createClaudeCodeDriver } from "../../../src/agents/claude-code/driver.ts"
import { claudeCode } from "../../../src/agents/claude-code/records.ts"
import { promptUuid } from "../../../src/domain/ids.ts"
import { type DrivenHome, fakeHome } from "../../fixtures/driven.ts"
import { bench, type DriverBench } from "../../fixtures/driver-bench.ts"
import { findTranscript } from "../../fixtures/fake-stream-transcript.ts"
import { readAll } from "../platform.ts"

const VERSIONS = ["2.1.197", "2.1.325"]
const open: { b: DriverBench; home: DrivenHome }[] = []

function fake(version: string, env: Record<string, string> = {}) {
  const home = fakeHome(version, env)
  const b = bench(createClaudeCodeDriver(), home)
  open.push({ b, home })
  return { home, b }
}

afterEach(async () => {
  for (const { b, home } of open.splice(0)) {
    await b.closeAll()
    await home.close()
  }
})

describe.each(VERSIONS)("what can go wrong with an agent in the manner of Claude Code %s", (version) => {
  test("lines that are no JSON harm nothing", async () => {
    const { b } = fake(version)
    const { say } = await b.start()
    expect(await say("<<GARBAGE sense>>")).toMatchObject({ status: "done", text: "sense" })
    expect(await say("<<SAY more>>")).toMatchObject({ status: "done", text: "more" })
  })

  test("a turn that ends with an error has failed, with the agent's words", async () => {
    const { b } = fake(version)
    const { say } = await b.start()
    expect(await say("<<FAIL overloaded>>")).toMatchObject({ status: "failed", error: "API Error: overloaded" })
    expect((await say("<<SAY again>>")).status).toBe("done")
  })

  test.each([
    [1, 0],
    [2, 0],
    [3, 1],
  ])("it crashes at step %i of a turn: the prompt is kept once under the message's id", async (step, replies) => {
    const { b, home } = fake(version)
    const { session } = await b.start()
    const end = await session.prompt({ id: "m-1", text: `<<CRASH ${step}>>` }, { onEvent() {} })
    expect(end.status).toBe("failed")
    expect(end.error).toContain("SIGKILL")
    const captured = await readAll(claudeCode, home.machine)
    const turns = captured.filter((capture) => capture.type === "turn")
    expect(turns.filter(({ kind }) => kind === "prompt").map(({ text }) => text)).toEqual([`<<CRASH ${step}>>`])
    expect(turns.filter(({ kind }) => kind === "reply")).toHaveLength(replies)
    const file = readFileSync(findTranscript(`${home.dir}/.claude`, session.nativeId)!, "utf8")
    expect(file.split(`"uuid":"${promptUuid("m-1")}"`)).toHaveLength(2)
    const { say } = await b.start({ session: { kind: "resume", id: session.nativeId } })
    expect((await say("<<RECALL on>>")).text).toBe(`heard: ${step} on`)
  })

  test("an answer that nobody asked for is not taken for the answer to the next prompt", async () => {
    const { b } = fake(version)
    const { say } = await b.start()
    await say("<<STRAY by myself>>")
    expect(await say("<<SAY asked>>")).toMatchObject({ status: "done", text: "asked" })
  })

  test("it does not start, or not with this session: the failure has its words", async () => {
    const dying = fake(version, { FAKE_AGENT_DIES: "start" })
    await expect(dying.b.start()).rejects.toMatchObject({
      code: "agent_failed",
      message: expect.stringContaining("no room to start"),
    })
    const damaged = fake(version, { FAKE_AGENT_DIES: "resume" })
    const { session, say } = await damaged.b.start()
    await say("<<SAY kept>>")
    await session.close()
    await expect(damaged.b.start({ session: { kind: "resume", id: session.nativeId } })).rejects.toMatchObject({
      code: "cannot_resume",
      message: expect.stringContaining("damaged"),
    })
  })

  test("closed in the middle of a turn, it is gone, and the turn has failed", async () => {
    const { b } = fake(version)
    const { session, prompt } = await b.start()
    const running = prompt("<<HOLD on>>")
    await session.close()
    expect((await running).status).toBe("failed")
    expect(await session.gone).toContain("ended")
  })
})

test("cost is told per turn, though the agent adds it up", async () => {
  const { b } = fake("2.1.325")
  const { say } = await b.start()
  const first = await say("<<SAY one>>")
  const second = await say("<<SAY two>>")
  for (const { usage } of [first, second])
    expect(usage).toEqual({ inputTokens: 6, outputTokens: 4, cachedTokens: 3, costUsd: expect.closeTo(0.001) })
})

test("an agent that is started from within another does not take itself for a part of that one", async () => {
  const outer = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: randomUUID(), CLAUDE_CODE_ENTRYPOINT: "cli" }
  const { b } = fake("2.1.325", { ...outer, CLAUDE_CODE_USE_BEDROCK: "1" })
  const { say } = await b.start({ skipPermissions: true })
  const { text } = await say("<<RUN env | grep ^CLAUDE>>")
  expect(text).toBe("ran: CLAUDE_CODE_USE_BEDROCK=1")
})
