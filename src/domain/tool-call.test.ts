import { describe, expect, test } from "vitest"
import { readableCall, tellingPart } from "./tool-call.ts"

describe("the part of a call that tells most", () => {
  test.each([
    ["a command", '{"command":"npm test","description":"Runs the tests"}', "npm test"],
    ["a command behind what tells less", '{"description":"Runs the tests","command":"npm test"}', "npm test"],
    ["a file", '{"old_string":"a","file_path":"/w/a.ts"}', "/w/a.ts"],
    ["a command as a list of words", '{"command":["bash","-lc","ls | wc -l"],"workdir":"/w"}', "bash -lc ls | wc -l"],
    ["words that hold brackets, commas and quotes", '{"command":["sh","-c","a[0], \\"b\\""]}', 'sh -c a[0], "b"'],
    ["what is quoted inside of it", '{"command":"echo \\"a\\"\\nls"}', 'echo "a"\nls'],
    ["a call that was cut off inside of it", '{"command":"npm run bui', "npm run bui"],
    ["a call that was cut off inside of an escape", '{"command":"echo \\u00', "echo \\u00"],
    ["a list that was cut off", '{"command":["bash","-lc","npm run bui', "bash -lc npm run bui"],
    ["blanks between its parts", '{ "pattern" : "a.*b" }', "a.*b"],
    ["nothing that is known: all of it", '{"lines":3}', '{"lines":3}'],
    ["what is no call: all of it", "*** Begin Patch", "*** Begin Patch"],
  ])("%s", (_, call, expected) => {
    expect(tellingPart(call)).toBe(expected)
  })
})

describe("a call as a person reads it", () => {
  test.each([
    ["what tells most first, without its name", '{"description":"Lists","command":"ls"}', "ls · description: Lists"],
    ["numbers and switches by name", '{"path":"a.ts","limit":3,"all":true}', "a.ts · limit: 3 · all: true"],
    ["a list of words as one line", '{"command":["bash","-lc","ls"]}', "bash -lc ls"],
    [
      "things in things",
      '{"edits":[{"from":"a","to":"b"},{"from":"c","to":"d"}]}',
      "edits: from: a, to: b, from: c, to: d",
    ],
    ["nothing at all", "{}", ""],
  ])("%s", (_, call, expected) => {
    expect(readableCall(call)).toBe(expected)
  })

  test.each([
    ["words", "ls"],
    ["code", "{ return 1 }"],
    ["a call that was cut off", '{"command":"ls'],
    ["a list", '["ls"]'],
    ["one that is too long to be taken apart for a line of it", `{"command":"${"x".repeat(40_000)}"}`],
    ["one that is deeper than anybody can look", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ])("%s is none", (_, text) => {
    expect(readableCall(text)).toBeUndefined()
  })
})
