import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type FakeAgents, makeFakeAgents } from "../../../test/fixtures/fake-agents.ts"
import { writeProgram } from "../../../test/fixtures/terminal.ts"
import type { PaneAddress, PaneGuard, Panes } from "../../domain/panes.ts"
import { tmuxPanes } from "./tmux.ts"

const SOON = { interval: 20 }

let agents: FakeAgents
let panes: Panes
let pane: PaneAddress
let guard: Required<PaneGuard>
beforeEach(async () => {
  agents = makeFakeAgents()
  panes = agents.panes
  // Draws once, with the cursor behind the words, and keeps every byte that reaches it.
  const script = `stty raw -echo; printf 'ready> '; exec cat >${join(agents.dir, "got")}`
  const start = { socket: agents.socket(), name: "one", cwd: agents.dir, env: {} }
  pane = await panes.start({ ...start, argv: ["sh", "-c", script] })
  await expect
    .poll(async () => {
      const { lines, program } = (await panes.look(pane))!
      return [lines[0], program]
    }, SOON)
    .toEqual(["ready>", "cat"])
  const { cursor, program, isInMode } = (await panes.look(pane))!
  guard = { cursor, program, isInMode }
})
afterEach(() => agents.end())

const tmux = (...args: string[]) => agents.tmux("a", ...args)
const got = () => readFileSync(join(agents.dir, "got"), "utf8")
const buffers = () => tmux("list-buffers")
const shown = (format: string, address = pane) => tmux("display-message", "-p", "-t", address.pane, format).trim()
/** A program that says where it is and stays. */
const start = (name: string, argv: string[], more: { cwd?: string; env?: Record<string, string> } = {}) =>
  panes.start({ socket: agents.socket(), name, cwd: agents.dir, env: {}, ...more, argv })
const file = (name: string) => readFileSync(join(agents.dir, name), "utf8")
/** Every byte that was typed up to now: nothing is on its way behind a key that has arrived. */
async function all(): Promise<string> {
  tmux("send-keys", "-t", pane.pane, "C-]")
  await expect.poll(got, SOON).toContain("\x1d")
  return got().replaceAll("\x1d", "")
}

test("a cursor that has moved keeps keys and pastes from being written", async () => {
  const moved = { ...guard, cursor: { ...guard.cursor, column: guard.cursor.column + 1 } }
  const below = { ...guard, cursor: { ...guard.cursor, row: guard.cursor.row + 1 } }
  for (const wrong of [moved, below]) {
    expect(await panes.paste(pane, "words", wrong)).toBe(false)
    expect(await panes.key(pane, "Enter", wrong)).toBe(false)
  }
  expect(await panes.key(pane, "C-u", guard)).toBe(true)
  await expect.poll(got, SOON).toBe("\x15")
  expect(buffers()).toBe("")
})

test("another program in front keeps keys and pastes from being written", async () => {
  const other = { ...guard, program: "vi" }
  expect(await panes.paste(pane, "words", other)).toBe(false)
  expect(await panes.key(pane, "Enter", other)).toBe(false)
  expect(await panes.paste(pane, "words", guard)).toBe(true)
  await expect.poll(got, SOON).toBe("words")
})

test("keys and pastes reach the program behind copy mode only if that mode is known of, and the mode stays", async () => {
  tmux("copy-mode", "-t", pane.pane)
  expect(await panes.paste(pane, "words", guard)).toBe(false)
  expect(await panes.key(pane, "Enter", guard)).toBe(false)
  const inMode = { ...guard, isInMode: true }
  expect(await panes.paste(pane, "words", inMode)).toBe(true)
  for (const key of ["Enter", "Escape", "C-s", "C-u", "C-c"] as const)
    expect(await panes.key(pane, key, inMode)).toBe(true)
  await expect.poll(got, SOON).toBe("words\r\x1b\x13\x15\x03")
  expect((await panes.look(pane))!.isInMode).toBe(true)
  expect(buffers()).toBe("")
  tmux("send-keys", "-t", pane.pane, "-X", "cancel")
  expect(await panes.key(pane, "Enter", inMode)).toBe(false)
})

describe("a pane is another one", () => {
  test("where its server, the server's start, its number or its program is another", async () => {
    const second = await start("two", ["sleep", "60"])
    const others: PaneAddress[] = [
      { ...pane, serverPid: pane.serverPid + 1 },
      { ...pane, serverStart: pane.serverStart + 1 },
      { ...pane, panePid: second.panePid },
      { ...second, panePid: pane.panePid },
      { ...pane, pane: "%77" },
      { ...pane, socket: agents.socket("nobody") },
    ]
    for (const other of others) {
      expect(await panes.look(other)).toBeUndefined()
      expect(await panes.paste(other, "words")).toBe(false)
      expect(await panes.paste(other, "words", guard)).toBe(false)
      expect(await panes.key(other, "Enter")).toBe(false)
      expect(await panes.key(other, "Enter", { ...guard, isInMode: true })).toBe(false)
      expect(await panes.end(other)).toBe(false)
    }
    expect(await all()).toBe("")
    expect(buffers()).toBe("")
    expect(await panes.look(second)).toBeDefined()
  })

  test("where its id is invalid, and nothing in it is executed", async () => {
    const { socket } = pane
    for (const number of ["", "1", `x${pane.pane}`, `${pane.pane}x`, `${pane.pane} ; kill-server`, "one", "%"]) {
      expect(await panes.identify({ socket, pane: number })).toBeUndefined()
      expect(await panes.look({ ...pane, pane: number })).toBeUndefined()
      expect(await panes.key({ ...pane, pane: number }, "Enter")).toBe(false)
    }
    expect(await panes.identify({ socket, pane: "%77" })).toBeUndefined()
    expect(await panes.identify({ socket: agents.socket("nobody"), pane: pane.pane })).toBeUndefined()
    expect(await panes.identify({ socket, pane: pane.pane })).toEqual(pane)
    expect(await all()).toBe("")
  })
})

test("a pane whose number has two digits is one as well", async () => {
  for (let count = 0; count < 10; count++) tmux("new-window", "-d", "-t", "one:", "sleep 60")
  const last = await start("last", ["sleep", "60"])
  expect(last.pane).toMatch(/^%\d\d$/)
  expect(await panes.identify({ socket: last.socket, pane: last.pane })).toEqual(last)
  expect(await panes.look(last)).toBeDefined()
})

test("a pane is known by its server and program, as tmux tells them", async () => {
  const [serverPid, serverStart, number, panePid] = shown("#{pid} #{start_time} #{pane_id} #{pane_pid}").split(" ")
  expect(pane).toEqual({
    ...{ socket: agents.socket(), serverPid: Number(serverPid), serverStart: Number(serverStart) },
    ...{ pane: number, panePid: Number(panePid) },
  })
  const nobody = await start("two", ["sleep", "60"])
  expect(nobody.pane).not.toBe(pane.pane)
})

describe("a look", () => {
  test("tells the cursor, the title, the program in front and the mode", async () => {
    tmux("select-pane", "-t", pane.pane, "-T", "a title")
    const seen = (await panes.look(pane))!
    const now = { cursor: { column: 7, row: 0 }, program: "cat", title: "a title", isInMode: false, isDead: false }
    expect(seen).toMatchObject(now)
    expect(seen.lines).toHaveLength(50)
    expect(seen.bright[0]).toBe("ready>")
    tmux("copy-mode", "-t", pane.pane)
    expect((await panes.look(pane))!.isInMode).toBe(true)
  })

  test("tells that a program has ended whose pane is still shown, and nothing is typed there", async () => {
    tmux("set-option", "-p", "-t", pane.pane, "remain-on-exit", "on")
    process.kill(pane.panePid, "SIGKILL")
    await expect.poll(async () => (await panes.look(pane))?.isDead, SOON).toBe(true)
    const { cursor, program } = (await panes.look(pane))!
    expect(await panes.paste(pane, "words", { cursor, program, isInMode: false })).toBe(false)
    expect(await panes.key(pane, "Enter", { program })).toBe(false)
  })
})

describe("what is typed", () => {
  test("is one paste for a program that can tell, byte for byte, and nothing is added", async () => {
    const script = `stty raw -echo; printf '\\033[?2004hready> '; exec cat >${join(agents.dir, "bracketed")}`
    const asking = await start("asking", ["sh", "-c", script])
    await expect.poll(async () => (await panes.look(asking))?.program, SOON).toBe("cat")
    await expect.poll(async () => (await panes.look(asking))?.lines[0], SOON).toBe("ready>")
    expect(await panes.paste(asking, "one\ntwo\tthree 😀")).toBe(true)
    await expect.poll(() => file("bracketed"), SOON).toBe("\x1b[200~one\ntwo\tthree 😀\x1b[201~")
    // A key in a mode is written as a paste: such a one has no brackets.
    tmux("copy-mode", "-t", asking.pane)
    expect(await panes.key(asking, "Enter", { program: "cat", isInMode: true })).toBe(true)
    await expect.poll(() => file("bracketed"), SOON).toMatch(/201~\r$/)
  })

  test("needs no guard, and a guard may leave out the cursor and the mode", async () => {
    expect(await panes.paste(pane, "a")).toBe(true)
    expect(await panes.key(pane, "Enter")).toBe(true)
    expect(await panes.paste(pane, "b", { program: "cat" })).toBe(true)
    expect(await panes.key(pane, "C-c", { program: "cat" })).toBe(true)
    expect(await all()).toBe("a\rb\x03")
  })

  test("reaches a program whose name has signs in it that tmux reads", async () => {
    const program = join(agents.dir, "a,b}#c")
    copyFileSync("/bin/cat", program)
    const odd = await start("odd", [
      "sh",
      "-c",
      `stty raw -echo; chmod +x '${program}'; exec '${program}' >'${agents.dir}/odd'`,
    ])
    await expect.poll(async () => (await panes.look(odd))?.program, SOON).toBe("a,b}#c")
    expect(await panes.paste(odd, "words", { program: "a,b}#c" })).toBe(true)
    expect(await panes.paste(odd, "words", { program: "a,b}#d" })).toBe(false)
    await expect.poll(() => file("odd"), SOON).toBe("words")
  })
})

describe("the pane of a session", () => {
  const find = (name: string) => panes.find({ socket: agents.socket(), name })

  test("is found by the session's name, and no other's", async () => {
    const two = await start("two, #{pid}}", ["sleep", "60"])
    expect(await find("one")).toEqual(pane)
    expect(await find("two, #{pid}}")).toEqual(two)
    expect(await find("tw")).toBeUndefined()
    expect(await find("")).toBeUndefined()
    expect(await panes.find({ socket: agents.socket("nobody"), name: "one" })).toBeUndefined()
  })

  test("is the one that it was started with, not what a person opened beside it", async () => {
    tmux("split-window", "-t", pane.pane)
    tmux("new-window", "-t", "one", "sleep 60")
    expect(await find("one")).toEqual(pane)
  })

  test("is not found once its program has ended, though others are there", async () => {
    tmux("set-option", "-p", "-t", pane.pane, "remain-on-exit", "on")
    tmux("split-window", "-d", "-t", pane.pane)
    process.kill(pane.panePid, "SIGKILL")
    await expect.poll(async () => (await panes.look(pane))?.isDead, SOON).toBe(true)
    expect(await find("one")).toBeUndefined()
  })

  test("ends with all that was opened beside it, and no other session does", async () => {
    const two = await start("two", ["sleep", "60"])
    tmux("split-window", "-d", "-t", pane.pane)
    expect(await panes.end(pane)).toBe(true)
    expect(await panes.look(pane)).toBeUndefined()
    expect(tmux("list-panes", "-a", "-F", "#{session_name}").trim()).toBe("two")
    expect(await panes.look(two)).toBeDefined()
  })
})

describe("a program is started", () => {
  test("with its words, folder and variables as they are", async () => {
    const cwd = join(agents.dir, "a #{pid} folder;")
    mkdirSync(cwd)
    const script = `printf '%s|' "$PWD" "$KIND" "$@" >'${agents.dir}/words.part'; mv '${agents.dir}/words.part' '${agents.dir}/words'; exec sleep 60`
    const env = { KIND: "a #{pid} value; and 'more'" }
    const words = ["a;", ";", "#{pid}", "$HOME", "it's", ""]
    const one = await start("words", ["sh", "-c", script, "sh", ...words], { cwd, env })
    const wanted = [cwd, env.KIND, ...words].map((word) => `${word}|`).join("")
    await expect.poll(() => read("words"), SOON).toBe(wanted)
    expect(shown("#{window_width}x#{window_height}", one)).toBe("160x50")
  })

  test("alone, without a shell that would read its name", async () => {
    for (const name of ["it's $(one) program;", "a=b"]) {
      const program = join(agents.dir, name)
      writeFileSync(program, `#!/bin/sh\necho here >'${agents.dir}/alone'\nexec sleep 60\n`, { mode: 0o755 })
      const alone = await start(`alone ${name.length}`, [program])
      await expect.poll(() => read("alone"), SOON).toBe("here\n")
      expect(await panes.look(alone)).toBeDefined()
      unlinkSync(join(agents.dir, "alone"))
    }
  })

  test("in a server of ours without a person's settings", async () => {
    writeFileSync(join(agents.dir, ".tmux.conf"), "set -g remain-on-exit on\n")
    await panes.start({
      ...{ socket: agents.socket("own"), name: "x", cwd: agents.dir, env: {} },
      argv: ["sleep", "60"],
    })
    expect(agents.tmux("own", "show-options", "-gv", "remain-on-exit").trim()).toBe("off")
  })

  const read = (name: string) => {
    try {
      return file(name)
    } catch {
      return undefined
    }
  }

  /** tmux whose server ends under so many starts, as it does with its last session; the rest reaches the real one. */
  function faltering(times: number, words: string, code = 1) {
    const tries = join(agents.dir, "tries")
    writeFileSync(tries, "")
    const real = `exec '${execFileSync("/bin/sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim()}' "$@"`
    const script = `case "$*" in *new-session*) echo x >>'${tries}'; if [ $(wc -l <'${tries}') -le ${times} ]; then printf '%s' '${words}' >&2; echo %99; exit ${code}; fi;; esac; ${real}`
    const program = join(agents.dir, "faltering")
    writeProgram(agents.dir, "faltering", script)
    const made = tmuxPanes({ env: { PATH: "/usr/bin:/bin", HOME: agents.dir, LANG: "C.UTF-8" }, program })
    const argv = ["sleep", "60"]
    const running = made.start({ socket: agents.socket(), name: "late", cwd: agents.dir, argv, env: {} })
    return { running, tries: () => file("tries").length / 2 }
  }

  test.each([
    ["server exited", 4],
    ["lost server", 1],
    ["error connecting to /s", 1],
  ])("again where its server ended in that moment: %s", async (words, times) => {
    const { running, tries } = faltering(times, words)
    expect(shown("#{session_name}", await running)).toBe("late")
    expect(tries()).toBe(times + 1)
  })

  test("not more than five times", async () => {
    const { running, tries } = faltering(99, "server exited unexpectedly\n")
    await expect(running).rejects.toMatchObject({
      code: "terminal_failing",
      message: "sleep could not be started in tmux: server exited unexpectedly",
      data: { socket: agents.socket(), name: "late" },
    })
    expect(tries()).toBe(5)
  })

  test("once where tmux has another reason, or it ended at once", async () => {
    const refused = faltering(99, "no space for new pane")
    await expect(refused.running).rejects.toThrow("sleep could not be started in tmux: no space for new pane")
    expect(refused.tries()).toBe(1)
    const short = faltering(99, "", 0)
    await expect(short.running).rejects.toThrow("sleep could not be started in tmux: it ended at once")
    expect(short.tries()).toBe(1)
    await expect(start("one", ["sleep", "60"])).rejects.toThrow("duplicate session: one")
  })
})
