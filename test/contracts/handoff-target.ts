import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Handoff, SessionWriter } from "../../src/domain/handoff.ts"
import { newTimedId } from "../../src/domain/ids.ts"
import type { Machine, Platform } from "../../src/domain/platform.ts"
import { readAll } from "./platform.ts"

const AT = Date.parse("2026-08-01T10:00:00.000Z")
const OLD = ["Which way?", "The long one.\n\n[Bash ls → mud]", 'And "why", 湖 🚀?', "It is drier."]

/** What it means to go on with another's conversation: its own adapter knows what was copied, and nothing is said twice. */
export function handoffTargetContract(
  writer: SessionWriter,
  platform: Platform,
  /** A line that the agent appends when somebody says this in the session. */
  appended: (nativeId: string, text: string, timestamp: string) => object,
): void {
  describe(`${writer.platform} goes on with another's conversation`, () => {
    let homeDir: string
    beforeAll(() => {
      homeDir = realpathSync(mkdtempSync(join(tmpdir(), "handoff-target-")))
    })
    afterAll(() => rmSync(homeDir, { recursive: true, force: true }))
    const machine = (): Machine => ({ os: "linux", homeDir, env: {} })
    const handoff = (): Handoff => ({
      id: newTimedId(AT),
      from: { platform: "gemini-cli", nativeId: "native-1" },
      title: "Which way?",
      cwd: join(homeDir, "lake"),
      gitBranch: "main",
      agentVersion: null,
      atMs: AT,
      messages: OLD.map((text, index) => ({
        by: index % 2 === 0 ? "person" : "agent",
        text,
        atMs: AT - 1000 + index,
      })),
    })

    test("it is the writer of its platform", () => {
      expect(writer.platform).toBe(platform.id)
    })

    test("the same handoff gives the same file, and it holds all that was said", () => {
      const request = handoff()
      const file = writer.session(request, machine())
      expect(writer.session(request, machine())).toEqual(file)
      expect(file.path).toContain(file.nativeId)
      const lines = file.content.trimEnd().split("\n")
      for (const line of lines) expect(JSON.parse(line)).toBeTypeOf("object")
      for (const text of OLD) expect(file.content).toContain(JSON.stringify(text))
    })

    test("its adapter knows where it comes from, leaves out what was copied, and keeps what is said then", async () => {
      const { path, nativeId, content } = writer.session(handoff(), machine())
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      const copied = await readAll(platform, machine())
      expect(copied.filter(({ type }) => type === "turn")).toEqual([])
      expect(copied.filter((capture) => capture.type === "skipped" && capture.unknown)).toEqual([])
      const sessions = copied.filter((capture) => capture.type === "session")
      expect(Object.assign({}, ...sessions)).toMatchObject({
        sessionId: nativeId,
        projectPath: join(homeDir, "lake"),
        title: { text: "Which way?" },
        gitBranch: "main",
        startedAtMs: AT,
        parent: { platform: "gemini-cli", sessionId: "native-1", kind: "handover" },
      })

      const fresh = appended(nativeId, "Then go.", new Date(AT + 5).toISOString())
      writeFileSync(path, `${content}${JSON.stringify(fresh)}\n`)
      const turns = (await readAll(platform, machine())).filter((capture) => capture.type === "turn")
      expect(turns).toMatchObject([{ sessionId: nativeId, kind: "prompt", text: "Then go.", atMs: AT + 5 }])
    })
  })
}
