import { describe, expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import { callLine, resultLine } from "./line.ts"

const call = (toolName: string, input: unknown) =>
  callLine({ toolName, text: typeof input === "string" ? input : JSON.stringify(input) }, "/w/app")

describe("a tool in one line", () => {
  test.each([
    ["Bash", { command: "npm test\n# second line", description: "Run it" }, "💻 Bash: npm test"],
    ["Read", { file_path: "/w/app/src/a.ts", limit: 5 }, "📖 Read: src/a.ts"],
    ["Edit", { file_path: "/w/other/b.ts", old_string: "x" }, "✏️ Edit: /w/other/b.ts"],
    ["Grep", { pattern: "TODO", path: "/w/app/src" }, "🔎 Grep: src"],
    ["WebFetch", { url: "https://a.b", prompt: "what" }, "🌐 WebFetch: https://a.b"],
    ["Task", { description: "Look around", prompt: "long" }, "🤖 Task: Look around"],
    ["mcp__github__get_issue", { owner: "a", number: 3 }, "🔧 github get_issue: a"],
    ["shell", { command: ["bash", "-lc", "ls -l /w/app/src"] }, "💻 shell: ls -l src"],
    ["exec_command", { cmd: "git status" }, "💻 exec_command: git status"],
    ["apply_patch", "*** Begin Patch\n*** Update File: src/c.ts\n@@", "✏️ apply_patch: src/c.ts"],
    ["read_file", { absolute_path: "/w/app/d.ts" }, "📖 read_file: d.ts"],
    ["read", { filePath: "/w/app/e.ts" }, "📖 read: e.ts"],
    ["TodoWrite", { todos: [] }, "📋 TodoWrite"],
    ["", {}, "🔧 tool"],
  ])("%s", (tool, input, expected) => expect(call(tool, input)).toBe(expected))

  test("a long command is cut, and one of 3 MB does not take long", () => {
    expect([...call("Bash", { command: "x".repeat(200) })].length).toBeLessThan(100)
    const before = process.threadCpuUsage()
    expect(call("Write", { file_path: "/w/app/big.txt", content: "y".repeat(3_000_000) })).toBe("✏️ Write: big.txt")
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(500)
  })

  test("of a failure it says why", () => {
    const failed = (text: string) => resultLine({ toolName: "Bash", text, isError: true })
    expect(failed("Exit code 2\nnot found")).toBe("   ✗ Bash: Exit code 2")
    expect(failed("lots of output\nError: no such file\nmore")).toBe("   ✗ Bash: Error: no such file")
    expect(failed("")).toBe("   ✗ Bash: failed")
    expect(resultLine({ toolName: "Read", text: "12 lines\nmore", isError: false })).toBe("   ↳ 12 lines")
  })

  test("whatever it is given, it is one line of whole characters", () => {
    for (let seed = 1; seed <= 2_000; seed++) {
      const random = makeRandom(seed)
      const text = random.chance(0.5) ? anyText(random) : `{"command":"${anyText(random)}`
      for (const line of [
        callLine({ toolName: anyText(random, 4), text }, "/w"),
        resultLine({ toolName: null, text, isError: true }),
      ]) {
        expect(line).not.toContain("\n")
        expect(line.isWellFormed()).toBe(true)
        expect(line.length).toBeLessThan(180)
      }
    }
  })
})
