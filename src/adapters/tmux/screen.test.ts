import { describe, expect, test } from "vitest"
import { readScreen } from "./tmux.ts"

const lines = (captured: string) => readScreen(captured).lines
/** The one line, with what is faint as blanks. */
const bright = (captured: string) => readScreen(captured).bright.join("|")

describe("the lines", () => {
  test("are those on the screen, blank ones too, without blanks at their ends", () => {
    expect(lines("one  \n\n  two\n\n")).toEqual(["one", "", "  two", ""])
    expect(readScreen("one  \n\n  two\n\n").bright).toEqual(["one", "", "  two", ""])
    expect(lines("no end")).toEqual(["no end"])
  })

  test("have no colours, links, controls or other sequences in them", () => {
    expect(lines("\x1b[1;31mred\x1b[0m plain")).toEqual(["red plain"])
    expect(lines("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07 end")).toEqual(["link end"])
    expect(lines("a\x1b[2Kb\x1b[10;20Hc\x1b[?25ld\x1b=e")).toEqual(["abcde"])
    expect(lines("a\x07b\x0ec\td\x1fe f")).toEqual(["abcde f"])
  })
})

describe("what is faint is blank in the bright lines", () => {
  test("from where it begins until it ends, over lines too", () => {
    expect(bright("❯ \x1b[2mhint\x1b[22m typed")).toBe("❯      typed")
    expect(bright("\x1b[2mhint\nmore\x1b[0m typed")).toBe("|     typed")
    expect(bright("\x1b[2mhint\x1b[m typed")).toBe("     typed")
    expect(bright("\x1b[1;2;3mhint\x1b[1m still\x1b[22m typed")).toBe("           typed")
    expect(lines("❯ \x1b[2mhint\x1b[22m typed")).toEqual(["❯ hint typed"])
  })

  test("but not what only has a colour whose number is that of faint", () => {
    for (const colour of ["38;5;2", "48;5;2", "58;5;2", "38;2;2;2;2", "48;2;2;2;2", "58;2;2;2;2", "12", "42"])
      expect(bright(`\x1b[${colour}mtyped`)).toBe("typed")
    for (const colour of ["38;5;0", "48;2;0;0;22"]) expect(bright(`\x1b[2;${colour}mhint`)).toBe("")
  })

  test("also when the colour stands before it", () => {
    for (const codes of ["38;5;1;2", "48;2;1;1;1;2", "31;2"]) expect(bright(`\x1b[${codes}mhint`)).toBe("")
  })
})

describe("the letter under the cursor that an agent draws", () => {
  test("belongs to the hint that follows it", () => {
    expect(bright("❯ \x1b[7mT\x1b[27m\x1b[2mry this\x1b[0m")).toBe("❯")
    expect(bright("❯ \x1b[7;31mT\x1b[0;2mry this\x1b[0m")).toBe("❯")
    expect(bright("\x1b[7m😀\x1b[0;2mry\x1b[0m.")).toBe("    .")
  })

  test("is typed where no hint follows it", () => {
    expect(bright("❯ \x1b[7mT\x1b[27mry this")).toBe("❯ Try this")
    expect(bright("❯ \x1b[7mT")).toBe("❯ T")
    expect(bright("❯ \x1b[7mTr\x1b[27m\x1b[2my this")).toBe("❯ Tr")
  })

  test("is one that is reversed: any other before a hint is typed", () => {
    for (const plain of [
      "T",
      "\x1b[7m\x1b[0mT",
      "\x1b[7m\x1b[mT",
      "\x1b[7m\x1b[27mT",
      "\x1b[38;5;7mT",
      "\x1b[48;2;7;7;7mT",
    ])
      expect(bright(`${plain}\x1b[2mry this`)).toBe("T")
  })
})
