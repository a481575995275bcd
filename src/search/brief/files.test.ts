import { describe, expect, test } from "vitest"
import type { Turn } from "../../domain/turn.ts"
import { filesTouched } from "./files.ts"

const call = (toolName: string, input: unknown): Turn =>
  ({
    toolName,
    toolCallId: null,
    text: typeof input === "string" ? input : JSON.stringify(input),
    atMs: 1,
  }) as Turn
const paths = (...calls: Turn[]) => filesTouched(calls, new Set(), "/w/app").map(({ path }) => path)

describe("a file is touched by", () => {
  test.each([
    ["Claude Code", call("Edit", { file_path: "/w/app/src/a.ts", old_string: "x" })],
    ["Claude Code, a notebook", call("NotebookEdit", { notebook_path: "/w/app/src/a.ts" })],
    ["Codex", call("apply_patch", "*** Begin Patch\n*** Update File: src/a.ts\n@@\n*** End Patch")],
    [
      "Codex, in a shell",
      call("shell", { command: ["bash", "-lc", "apply_patch <<'E'\n*** Add File: src/a.ts\n+x\nE"] }),
    ],
    ["a redirection", call("exec_command", { cmd: "printf x > src/a.ts && npm test 2>/dev/null" })],
    ["sed in place", call("Bash", { command: "sed -i 's/a/b/' src/a.ts" })],
    ["Gemini CLI", call("write_file", { file_path: "/w/app/src/a.ts", content: "x" })],
    ["opencode", call("edit", { filePath: "/w/app/src/a.ts", oldString: "x" })],
    ["Cline", call("replace_in_file", { path: "src/a.ts", diff: "x" })],
    ["Cursor", call("edit_file", { target_file: "./src/a.ts" })],
    ["a cut input", call("Write", `{"file_path":"/w/app/src/a.ts","content":"${"x".repeat(50)}`)],
  ])("%s", (_, touching) => {
    expect(paths(touching)).toEqual(["src/a.ts"])
  })
})

describe("no file is touched by", () => {
  test.each([
    ["reading", call("Read", { file_path: "/w/app/src/a.ts" })],
    ["looking", call("Bash", { command: "cat src/a.ts | grep x" })],
    ["a list of things to do", call("TodoWrite", { todos: [{ content: "x", path: "src/a.ts" }] })],
    ["throwing output away", call("Bash", { command: "npm test > /dev/null.log 2> /tmp/err.txt" })],
  ])("%s", (_, other) => {
    expect(paths(other)).toEqual([])
  })
})

test("the file touched last comes first, and once", () => {
  const edit = (path: string) => call("Edit", { file_path: path })
  expect(filesTouched([edit("/w/app/a"), edit("/b"), edit("/w/app/a")], new Set(), "/w/app")).toMatchObject([
    { path: "a", times: 2 },
    { path: "/b", times: 1 },
  ])
})
