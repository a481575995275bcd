import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { makeRandom } from "../../bench/corpus/random.ts"
import { readScreen } from "../../src/adapters/tmux/tmux.ts"
import type { AgentConsole, ConsoleScreen } from "../../src/domain/agent-console.ts"
import { plainTeam } from "../../src/domain/team.ts"
import { HOSTILE, hostileTexts } from "../fixtures/hostile-texts.ts"

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u

export const TEAM = plainTeam("web", "/w/web", "")

export const plain = (terminal: AgentConsole, text: string) => terminal.prepare(text, { isCommand: false })

/** A screen of a real agent: the cursor's column and row, then what tmux captured with its colours. */
export function screenOf(file: string) {
  const kept = readFileSync(new URL(`../fixtures/screens/${file}.txt`, import.meta.url), "utf8")
  const [column = 0, row = 0] = kept.slice(0, kept.indexOf("\n")).split(" ").map(Number)
  return { ...readScreen(kept.slice(kept.indexOf("\n") + 1)), cursor: { column, row } }
}

/** What it means to write to an agent in a terminal, whichever it is. */
export function consoleContract(terminal: AgentConsole, screens: Record<string, ConsoleScreen>): void {
  describe(`${terminal.platform} in a terminal`, () => {
    test("whatever is said becomes words: no controls, nothing hidden, nothing that runs or ends anything", () => {
      for (const text of [...HOSTILE, ...hostileTexts(makeRandom(7), 3_000)]) {
        const ready = plain(terminal, text)
        if ("refused" in ready) continue
        expect(ready.text).not.toMatch(CONTROL)
        expect(ready.text.trim()).not.toMatch(/^(?:[!！]|[/／][\w-]*(?:\s|$)|(?:exit|quit|:q!?|:wq!?)$)/)
        expect(plain(terminal, ready.text)).toEqual(ready)
      }
    })

    test("what is ordinary stays as it is", () => {
      for (const text of [
        "Fix the build",
        "line\n\tindented\nline",
        "日本語 é 👨‍👩‍👧",
        "/tmp/x is a path",
        "-x;",
        "wow!",
      ])
        expect(plain(terminal, text)).toEqual({ text })
    })

    test.each(["", "  \n\t ", "\x1b\x00\u202e", "x".repeat(200_001), "ü".repeat(100_001)])(
      "nothing, and too much, is refused",
      (text) => expect(plain(terminal, text)).toEqual({ refused: expect.any(String) }),
    )

    test("a command goes as it is, but not one that ends the session, and nothing else goes as a command", () => {
      const command = (text: string) => terminal.prepare(text, { isCommand: true })
      expect(command("/compact keep the plan")).toEqual({ text: "/compact keep the plan" })
      for (const text of ["/exit", "/quit", "!ls", "hello", "/compact\n!ls", "exit"])
        expect(command(text)).toEqual({ refused: expect.any(String) })
    })

    test("a draft is known again however the line wraps it, and no other is taken for it", () => {
      const text = "Please look at the failing test, and say what is wrong with it; é and 日本語 too."
      const wrapped = text.replace(/.{20}/g, "$&\n")
      expect(terminal.isDraftOf(wrapped, text)).toBe(true)
      expect(terminal.isDraftOf(`my draft ${text}`, text)).toBe(false)
      expect(terminal.isDraftOf(text.slice(0, -4), text)).toBe(false)
      expect(terminal.isDraftOf("", text)).toBe(false)
      // tmux puts a joiner that stood elsewhere between a letter and its accent.
      expect(terminal.isDraftOf("March/March%:e\u200d\u0301=", "March\u200d/March%:é=")).toBe(true)
    })

    test.each(Object.entries(screens))("reads the screen %s", (file, expected) =>
      expect(terminal.screen(screenOf(file))).toEqual(expected),
    )

    test("a screen that is none of the agent's is unknown", () => {
      for (const lines of [["$ "], [""], ["root@box:~# ls", "a  b", "root@box:~# "], ["> quote", "text"]]) {
        const cursor = { column: 2, row: lines.length - 1 }
        expect(terminal.screen({ lines, bright: lines, cursor }).kind).toBe("unknown")
      }
    })

    test("is started with an explicit mode, and goes on with a session by its id", () => {
      const { argv } = terminal.launch({ team: TEAM, resume: "0198-abc", program: "/opt/an agent" })
      expect(argv[0]).toBe("/opt/an agent")
      expect(argv).toContain("0198-abc")
      expect(argv.join(" ")).toMatch(/ --(?:permission-mode|ask-for-approval) \S+/)
      const asksNobody = terminal.launch({ team: { ...TEAM, skipPermissions: true } }).argv.join(" ")
      expect(asksNobody).toContain("--dangerously-")
    })

    test("nobody is live where there is nothing", async () => {
      const homeDir = mkdtempSync(join(tmpdir(), "console-"))
      onTestFinished(() => rmSync(homeDir, { recursive: true }))
      expect(await terminal.live({ os: "linux", homeDir, env: {} })).toEqual([])
    })
  })
}
