import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { writeTalk } from "../fixtures/talk.ts"
import { openTerminal, type Terminal, writeProgram } from "../fixtures/terminal.ts"

const SLOW_MS = 240_000
const SOON = { timeout: 60_000, interval: 50 }
const id = (number: number) => `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`
const ESC = "\u001b"
/** Long ones, wide letters, and what would clear the screen of somebody who reads it. */
const TITLES = [
  "Build the outbox: messages must survive a crash of the broker, and nobody may send one twice",
  "湖の水は冷たいですか？長いタイトルはどこにも収まりませんので切らなければなりません。",
  `Why does ${ESC}[31mred${ESC}[2J text clear the screen?`,
  "Short",
]

const PLACES =
  "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango".split(
    " ",
  )

let home: TestHome
let terminal: Terminal
let project: string
let other: string
beforeAll(async () => {
  home = makeHome()
  project = join(home.env.HOME!, "harbour")
  other = join(home.env.HOME!, "a-project-with-a-name-that-is-far-too-long")
  for (const dir of [project, other]) mkdirSync(dir)
  for (let number = 1; number <= 20; number++) {
    writeTalk(home.env.HOME!, {
      sessionId: id(number),
      cwd: number % 5 === 0 ? other : project,
      startedAt: `2026-01-${String(number).padStart(2, "0")}T10:00:00Z`,
      lines: [
        ["user", TITLES[number % TITLES.length]!],
        [
          "assistant",
          `The pelican sits on quay${number}, where ${"it waits for fish that fall from the crane, ".repeat(4)}`,
        ],
        ["user", "And then?"],
        ["assistant", `${ESC}[2JThen it flies to ${PLACES[number - 1]}.`],
      ],
    })
  }
  terminal = openTerminal(home, { cwd: home.env.HOME! })
  writeProgram(terminal.bin, "claude", 'printf "%s\\n" "$PWD" "$@" > "$HOME/started"; echo "agent at work"; exit 7')
  await home.json("import")
  await vi.waitFor(async () => {
    const { hits } = await home.json<{ hits: unknown[] }>("search", "pelican", "--limit", "50")
    expect(hits).toHaveLength(20)
  }, SOON)
})
afterEach(() => rmSync(join(home.env.HOME!, "started"), { force: true }))
afterAll(async () => {
  terminal.end()
  await home.dispose()
})

const started = async () => {
  await expect.poll(() => existsSync(join(home.env.HOME!, "started")), SOON).toBe(true)
  await terminal.shows("agent at work")
  return readFileSync(join(home.env.HOME!, "started"), "utf8").trimEnd().split("\n")
}
const listed = () => terminal.lines().filter((line) => line.includes("claude-code"))

describe.each(["search", "resume"])("throughline %s, without words in a terminal", (command) => {
  const open = async () => {
    terminal.run(`throughline ${command}`)
    await terminal.shows("esc quit")
    await terminal.shows("claude-code")
  }

  test("shows the newest sessions, narrows them while one types, and Enter starts the agent", {
    timeout: SLOW_MS,
  }, async () => {
    await open()
    expect(listed()).toHaveLength(15)
    expect(listed()[0]).toMatch(/^❯ .* 2026-01-20 .*claude-code/)
    terminal.type("quay7")
    await expect.poll(listed, SOON).toEqual([expect.stringContaining("2026-01-07")])
    await terminal.shows("The pelican sits on quay7")
    terminal.key("Enter")
    expect(await started()).toEqual([project, "--resume", id(7)])
    expect(await terminal.exitCode()).toBe(7)
    expect(terminal.lines().join("")).toContain(`cd ${project} && claude --resume ${id(7)}`)
  })

  test("Enter before the results arrive applies to the typed query, not to the old list", {
    timeout: SLOW_MS,
  }, async () => {
    await open()
    terminal.type("quay12\r")
    expect(await started()).toEqual([project, "--resume", id(12)])
    expect(await terminal.exitCode()).toBe(7)
  })

  test("another one is chosen by the arrows", { timeout: SLOW_MS }, async () => {
    await open()
    terminal.key("Down", "Down", "Down", "Up", "Enter")
    expect(await started()).toEqual([project, "--resume", id(18)])
    expect(await terminal.exitCode()).toBe(7)
  })

  test.each([
    ["Escape", 0],
    ["C-c", 130],
  ])("%s leaves, and nothing stays on the screen", { timeout: SLOW_MS }, async (key, code) => {
    await open()
    terminal.type("quay")
    terminal.key(key)
    expect(await terminal.exitCode()).toBe(code)
    expect(terminal.lines()).toEqual([
      expect.stringMatching(/^[$#] echo code/),
      `code=${code}`,
      expect.stringMatching(/^[$#]$/),
    ])
  })
})

describe("the picker", () => {
  test.each([80, 120])("fits in %d columns, in columns that line up", { timeout: SLOW_MS }, async (columns) => {
    terminal.resize(columns)
    terminal.run("throughline search")
    await terminal.shows("esc quit")
    await terminal.shows("claude-code")
    // A wide letter takes two columns, and one position of the text.
    const column = (line: string) => {
      const before = line.slice(0, line.indexOf("claude-code"))
      return before.length + (before.match(/[\u3000-\u9fff\uff00-\uff60]/g)?.length ?? 0)
    }
    expect(new Set(listed().map(column)).size).toBe(1)
    expect(listed()).toHaveLength(15)
    expect(terminal.lines().filter((line) => line.includes("Why does red text clear"))).not.toHaveLength(0)
    terminal.key("Escape")
    await terminal.exitCode()
    terminal.resize(80)
  })

  test("says when nothing is found, and finds again when the query is corrected", { timeout: SLOW_MS }, async () => {
    terminal.run("throughline search")
    await terminal.shows("claude-code")
    terminal.type("xylophone")
    await terminal.shows("No results. Try other words")
    terminal.key("Enter")
    for (const _ of "xylophone") terminal.key("BSpace")
    await expect.poll(() => listed().length, SOON).toBe(15)
    terminal.key("Escape")
    expect(await terminal.exitCode()).toBe(0)
  })

  test("applies the given filters", { timeout: SLOW_MS }, async () => {
    terminal.run("throughline search --since 2026-01-15")
    await terminal.shows("Type to search")
    terminal.type("pelican")
    await expect.poll(() => listed().length, SOON).toBe(6)
    terminal.key("Escape")
    expect(await terminal.exitCode()).toBe(0)
  })

  test("explains a missing session folder, and a missing terminal for the picker", {
    timeout: SLOW_MS,
  }, async () => {
    rmSync(other, { recursive: true })
    terminal.run("throughline search")
    await terminal.shows("claude-code")
    terminal.type("quay20")
    await terminal.shows("The pelican sits on quay20")
    terminal.key("Enter")
    await terminal.shows("no longer exists")
    expect(await terminal.exitCode()).toBe(3)
    mkdirSync(other)
    terminal.run("throughline search | cat")
    await terminal.shows("throughline search <words>")
    await terminal.exitCode()
  })

  test("shows an empty state without sessions, and suggests the next step", { timeout: SLOW_MS }, async () => {
    const empty = makeHome()
    const screen = openTerminal(empty, { cwd: empty.env.HOME! })
    try {
      for (const command of ["search", "resume"]) {
        screen.run(`throughline ${command}`)
        await screen.shows("throughline sources")
        expect(await screen.exitCode()).toBe(0)
      }
      screen.run("throughline search pelican")
      await screen.shows("throughline sources")
      expect(await screen.exitCode()).toBe(0)
      screen.run("throughline resume pelican")
      await screen.shows("no session")
      expect(await screen.exitCode()).toBe(3)
    } finally {
      screen.end()
      await empty.dispose()
    }
  })
})

describe("hits in a terminal", () => {
  test("are numbered and wrapped, with matches in colour, and no terminal codes of an agent", {
    timeout: SLOW_MS,
  }, async () => {
    terminal.run("throughline search golf india")
    await terminal.shows("throughline resume")
    expect(await terminal.exitCode()).toBe(0)
    expect(terminal.lines()[0]).toMatch(/^1\. \S/)
    const painted = terminal.painted()
    expect(painted).toMatch(new RegExp(`${ESC}\\[1m${ESC}\\[33m(?:golf|india)`))
    for (const line of terminal.lines()) expect(line.length).toBeLessThanOrEqual(80)
  })

  test("have no colour codes outside a terminal", { timeout: SLOW_MS }, async () => {
    for (const line of [
      "NO_COLOR=1 throughline search golf",
      "throughline search golf | cat",
      "TERM=dumb throughline search golf",
    ]) {
      terminal.run(line)
      await terminal.shows("golf.")
      expect(await terminal.exitCode()).toBe(0)
      expect(terminal.painted(), line).not.toContain(ESC)
    }
  })

  test("are shown page by page when they are longer than the screen", { timeout: SLOW_MS }, async () => {
    for (const pager of ["", "PAGER='less -RFX'", "PAGER=less"]) {
      terminal.run(`${pager} throughline search pelican`)
      await terminal.shows(/^:$/m)
      expect(terminal.painted(), pager).toMatch(new RegExp(`${ESC}\\[1m${ESC}\\[33mpelican`))
      expect(terminal.lines().join("\n")).not.toContain("ESC[")
      terminal.key("q")
      expect(await terminal.exitCode()).toBe(0)
    }
  })

  test("are all printed where there is no pager", { timeout: SLOW_MS }, async () => {
    for (const line of [
      "PAGER=cat throughline search pelican",
      "PAGER=no-such-pager throughline search pelican",
      `PATH=${terminal.bin} throughline search pelican`,
    ]) {
      terminal.run(line)
      await terminal.shows("--open 1 shows it in context")
      expect(await terminal.exitCode()).toBe(0)
      expect(terminal.lines().join("\n")).toMatch(/^10\. \S/m)
    }
  })

  test("are opened in their place", { timeout: SLOW_MS }, async () => {
    const { hits } = await home.json<{ hits: { sessionId: string; snippet: string }[] }>("search", "golf india")
    terminal.run("PAGER=cat throughline search golf india --open 2")
    await terminal.shows(/Then it flies to (?:golf|india)/)
    expect(await terminal.exitCode()).toBe(0)
    const shown = terminal.lines().join("\n")
    expect(shown).toContain(/(?:golf|india)/.exec(hits[1]!.snippet)![0])
    expect(shown).not.toContain(/(?:golf|india)/.exec(hits[0]!.snippet)![0])
    expect(shown).toContain("> And then?")
    terminal.run("throughline search golf --open 9")
    await terminal.shows("--open 9: there")
    expect(await terminal.exitCode()).toBe(2)
  })
})
