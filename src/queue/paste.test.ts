import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { type DrawnPane, type DrawnScreen, drawnPane } from "../../test/fixtures/drawn-pane.ts"
import { type FakeAgents, makeFakeAgents } from "../../test/fixtures/fake-agents.ts"
import { consoles } from "../agents/list.ts"
import type { Panes } from "../domain/panes.ts"
import { makePaster, type PasteRequest } from "./paste.ts"

const SOON = { timeout: 60_000, interval: 20 }
const RULE = "─".repeat(40)
const DRAFT = "half a thought"
const TEXT = "a message"

/** An input line as the agents draw it, with the cursor behind the draft. */
const claude = (draft: string, more: string[] = []): DrawnScreen => ({
  lines: [RULE, `❯ ${draft}`, RULE, ...more, "  ? for shortcuts"],
  cursor: { column: 2 + draft.length, row: 1 },
})
const codex = (draft: string): DrawnScreen => ({
  lines: ["", `› ${draft}`, "", "  ? for shortcuts"],
  cursor: { column: 2 + draft.length, row: 1 },
})
const STASHED = ["  › stashed"]
const DIALOG: DrawnScreen = { lines: ["Do you want to proceed?", "❯ 1. Yes", "  2. No"], cursor: { column: 0, row: 1 } }
const SHELL: DrawnScreen = { lines: ["$ "], cursor: { column: 2, row: 0 } }
/** An agent that takes a paste into its input line, and submits it by Enter. */
const obeying = (got: string) => claude(got.slice(got.lastIndexOf("\r") + 1))

let agents: FakeAgents
beforeAll(() => {
  agents = makeFakeAgents()
})
afterAll(() => agents.end())

let count = 0
async function drawn(screen: DrawnScreen, server?: string): Promise<DrawnPane> {
  const one = await drawnPane(agents, `pane${++count}`, server)
  await one.draw(screen)
  return one
}
async function obedient(server?: string): Promise<DrawnPane> {
  const one = await drawn(claude(""), server)
  onTestFinished(one.follow(obeying))
  return one
}
const requestFor = ({ pane }: DrawnPane, more: Partial<PasteRequest> = {}): PasteRequest => ({
  ...{ platform: "claude-code", pane, text: TEXT, isAgentThere: () => true },
  ...more,
})
const pasterWith = (over: Partial<Panes> = {}, settleMs = 10_000) =>
  makePaster({ panes: { ...agents.panes, ...over }, consoles, settleMs })
const paster = () => pasterWith()
/** For screens that never become what is waited for. */
const impatient = (over: Partial<Panes> = {}) => pasterWith(over, 300)
/** Another screen comes after each look, before anything can be typed. */
function movingBehind(one: DrawnPane, screens: DrawnScreen[]): Partial<Panes> {
  let looks = 0
  return {
    async look(address) {
      const seen = await agents.panes.look(address)
      await one.draw(screens[++looks % screens.length]!)
      return seen
    },
  }
}

describe("a message", () => {
  test("is typed into an empty input line, and Enter follows once", async () => {
    const one = await obedient()
    expect(await paster().submit(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe(`${TEXT}\r`)
  })

  test("that the agent says it has taken is submitted, whatever the screen shows", async () => {
    const one = await drawn(claude(TEXT))
    const asked: number[] = []
    const isTaken = async (withinMs: number) => asked.push(withinMs) > 0
    expect(await paster().finish(requestFor(one, { isTaken }))).toEqual({ kind: "submitted", text: TEXT })
    expect(asked).toEqual([1_000])
    expect(await one.all()).toBe("\r")
  })

  test("is typed as words where it looks like a command and is none", async () => {
    const one = await obedient()
    const text = "/cost now"
    expect(await paster().submit(requestFor(one, { text }))).toEqual({ kind: "submitted", text: `Message: ${text}` })
    expect(await paster().submit(requestFor(one, { text, isCommand: true }))).toEqual({ kind: "submitted", text })
    expect(await one.all()).toBe(`Message: ${text}\r${text}\r`)
  })

  test("that cannot be typed is refused, and no key is pressed", async () => {
    const one = await drawn(claude(""))
    const command = { kind: "refused", reason: "a command is one line that starts with /" }
    expect(await paster().submit(requestFor(one, { isCommand: true }))).toEqual(command)
    expect(await paster().finish(requestFor(one, { isCommand: true }))).toEqual(command)
    const nowhere = { kind: "refused", reason: "aider cannot be written to in a terminal" }
    const request = requestFor(one, { platform: "aider" })
    for (const what of ["submit", "finish", "interrupt"] as const)
      expect(await paster()[what](request)).toEqual(nowhere)
    expect(await one.all()).toBe("")
  })

  test("that tmux may have typed or not is said to be pasted, with tmux's words", async () => {
    const one = await drawn(claude(""))
    for (const why of [new Error("tmux did not answer"), "tmux did not answer"]) {
      const failing = impatient({ paste: () => Promise.reject(why) })
      expect(await failing.submit(requestFor(one))).toEqual({
        kind: "pasted",
        text: TEXT,
        reason: "tmux did not answer",
      })
    }
    expect(await one.all()).toBe("")
  })
})

describe("nothing is typed", () => {
  const NO_AGENT = { kind: "gone", reason: "pane_left" }

  test("where the agent no longer runs, whatever stands on the screen", async () => {
    const one = await drawn(claude(TEXT))
    const request = requestFor(one, { isAgentThere: async () => false, isStop: true })
    for (const what of ["submit", "finish", "interrupt"] as const)
      expect(await paster()[what](request)).toEqual(NO_AGENT)
    expect(await one.all()).toBe("")
  })

  test("in a pane that is closed", async () => {
    const one = await drawn(claude(""))
    expect(await agents.panes.end(one.pane)).toBe(true)
    const closed = { kind: "gone", reason: "pane_gone" }
    expect(await paster().submit(requestFor(one))).toEqual(closed)
    expect(await paster().interrupt(requestFor(one))).toEqual(closed)
  })

  test("in a pane whose program has ended and that is still shown", async () => {
    const one = await drawn(claude(TEXT))
    agents.tmux("a", "set-option", "-p", "-t", one.pane.pane, "remain-on-exit", "on")
    process.kill(one.pane.panePid, "SIGKILL")
    await expect.poll(async () => (await agents.panes.look(one.pane))?.isDead, SOON).toBe(true)
    const over = { kind: "gone", reason: "pane_dead" }
    for (const what of ["submit", "finish", "interrupt"] as const)
      expect(await paster()[what](requestFor(one))).toEqual(over)
  })

  test.each([
    ["a dialog", DIALOG, { kind: "later", reason: "dialog", what: "Do you want to proceed?" }],
    ["a shell", SHELL, { kind: "later", reason: "unknown-screen", what: "the screen shows no input line" }],
  ])("where there is %s in place of the input line", async (_, screen, result) => {
    const one = await drawn(screen)
    expect(await paster().submit(requestFor(one, { isStop: true }))).toEqual(result)
    for (const what of ["submit", "finish", "interrupt"] as const)
      expect(await paster()[what](requestFor(one))).toEqual(result)
    expect(await one.all()).toBe("")
  })

  test("into a screen that moves all the time", async () => {
    const one = await drawn(claude(""))
    const below = { ...claude(""), cursor: { column: 5, row: 1 } }
    expect(await impatient(movingBehind(one, [claude(""), below])).submit(requestFor(one))).toEqual({
      ...{ kind: "later", reason: "moved", what: "the screen keeps changing" },
    })
    expect(await one.all()).toBe("")
  })

  test("into a draft that somebody began after the look", async () => {
    const one = await drawn(claude(""))
    expect(await impatient(movingBehind(one, [claude(DRAFT)])).submit(requestFor(one))).toEqual({
      ...{ kind: "later", reason: "draft", what: "the draft in the input line could not be set aside" },
    })
    expect(await one.all()).toBe("")
  })
})

test("a screen that moved once is looked at again, and the message is typed once", async () => {
  const one = await drawn(claude(""))
  const moved = { ...claude(""), cursor: { column: 5, row: 1 } }
  let looks = 0
  const panes: Partial<Panes> = {
    async look(address) {
      const seen = await agents.panes.look(address)
      if (++looks === 1) {
        await one.draw(moved)
        onTestFinished(one.follow((got) => (got === "" ? moved : obeying(got))))
      }
      return seen
    },
  }
  expect(await pasterWith(panes).submit(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
  expect(await one.all()).toBe(`${TEXT}\r`)
})

describe("an agent that takes its time", () => {
  /** Draws what follows from what was typed, but never before so many looks at the screen of before. */
  function slow(one: DrawnPane, screenOf: (got: string) => DrawnScreen, looksBefore = 3): Partial<Panes> {
    let [before, looks] = ["", 0]
    return {
      async look(address) {
        const got = await one.all()
        looks = got === before ? 0 : looks + 1
        if (looks >= looksBefore) {
          before = got
          await one.draw(screenOf(got))
        }
        return agents.panes.look(address)
      },
    }
  }

  test("to show what was pasted gets its Enter then, once", async () => {
    const one = await drawn(claude(""))
    expect(await pasterWith(slow(one, obeying)).submit(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe(`${TEXT}\r`)
  })

  test("to put a draft aside is not typed into before it has", async () => {
    const one = await drawn(claude(DRAFT))
    const panes = slow(one, (got) => obeying(got.replace("\x13", "")))
    expect(await pasterWith(panes).submit(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe(`\x13${TEXT}\r`)
  })

  test("to show its input line after Escape is waited for", async () => {
    const one = await drawn(claude(""))
    let looks = 0
    const look: Panes["look"] = async (address) => {
      const got = await one.all()
      if (got === "\x1b") await one.draw(++looks > 2 ? claude("") : SHELL)
      else if (got !== "") await one.draw(obeying(got.replace("\x1b", "")))
      return agents.panes.look(address)
    }
    expect(await pasterWith({ look }).submit(requestFor(one, { isStop: true }))).toEqual({
      ...{ kind: "submitted", text: TEXT },
    })
    expect(await one.all()).toBe(`\x1b${TEXT}\r`)
  })
})

describe("a draft", () => {
  const WRITING = { kind: "later", reason: "draft", what: "somebody is typing in the input line" }

  test("is put aside before the message is typed", async () => {
    const one = await drawn(claude(DRAFT))
    onTestFinished(one.follow((got) => (got.includes("\x13") ? obeying(got.slice(1)) : claude(DRAFT))))
    expect(await paster().submit(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe(`\x13${TEXT}\r`)
  })

  test("that the agent does not put aside is not pasted over", async () => {
    const one = await drawn(claude(DRAFT))
    expect(await impatient().submit(requestFor(one))).toEqual({
      ...{ kind: "later", reason: "draft", what: "the draft in the input line could not be set aside" },
    })
    // The key that puts it aside, and nothing after it.
    expect(await one.all()).toBe("\x13")
  })

  test("is left alone where another one is put aside already, and no key is pressed", async () => {
    const one = await drawn(claude(DRAFT, STASHED))
    expect(await paster().submit(requestFor(one))).toEqual(WRITING)
    expect(await one.all()).toBe("")
  })

  test("of an agent that cannot put one aside is left alone, and no key is pressed", async () => {
    const one = await drawn(codex(DRAFT))
    expect(await paster().submit(requestFor(one, { platform: "codex" }))).toEqual(WRITING)
    expect(await one.all()).toBe("")
  })
})

describe("Enter", () => {
  const pasted = (reason: string) => ({ kind: "pasted", text: TEXT, reason })

  test("is not sent where the agent does not show what was pasted", async () => {
    const one = await drawn(claude(""))
    expect(await impatient().submit(requestFor(one))).toEqual(pasted("the input line shows something else"))
    expect(await one.all()).toBe(TEXT)
  })

  test("is not sent to a dialog that opened after the paste", async () => {
    const one = await drawn(claude(""))
    const paste: Panes["paste"] = async (...args) => {
      const isDone = await agents.panes.paste(...args)
      await one.draw(DIALOG)
      return isDone
    }
    expect(await impatient({ paste }).submit(requestFor(one))).toEqual(pasted("Do you want to proceed?"))
    expect(await one.all()).toBe(TEXT)
  })

  test("is not sent where the agent has ended since the paste", async () => {
    const one = await obedient()
    const isAgentThere = () => one.got() === ""
    expect(await paster().submit(requestFor(one, { isAgentThere }))).toEqual(
      pasted("the agent no longer runs in the pane"),
    )
    expect(await one.all()).toBe(TEXT)
  })

  test("is not sent to a screen that moves all the time", async () => {
    const one = await drawn(claude(TEXT))
    const moved = { ...claude(TEXT), cursor: { column: 3, row: 1 } }
    expect(await impatient(movingBehind(one, [claude(TEXT), moved])).finish(requestFor(one))).toEqual(
      pasted("the screen keeps changing"),
    )
    expect(await one.all()).toBe("")
  })

  test("is sent to a screen that has moved and is still again", async () => {
    const one = await drawn(claude(TEXT))
    let looks = 0
    const look: Panes["look"] = async (address) => {
      const seen = await agents.panes.look(address)
      // The second look is the one before Enter.
      if (++looks === 2) await one.draw({ ...claude(TEXT), cursor: { column: 3, row: 1 } })
      if (one.got() !== "") await one.draw(claude(""))
      return seen
    }
    expect(await pasterWith({ look }).finish(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe("\r")
  })

  test("is sent once, also when the agent does not take it and says so", async () => {
    const one = await drawn(claude(TEXT))
    const isTaken = async () => false
    for (const request of [requestFor(one), requestFor(one, { isTaken })])
      expect(await impatient().finish(request)).toEqual(pasted("Enter was not taken"))
    expect(await one.all()).toBe("\r\r")
  })

  test("counts as taken when the text has left the input line, also for a dialog", async () => {
    const one = await drawn(claude(TEXT))
    onTestFinished(one.follow((got) => (got === "" ? claude(TEXT) : DIALOG)))
    expect(await paster().finish(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe("\r")
  })
})

describe("what a crash has left in the input line", () => {
  test("gets its Enter, and is not typed again", async () => {
    const one = await drawn(claude(TEXT))
    onTestFinished(one.follow((got) => claude(got === "" ? TEXT : "")))
    expect(await paster().finish(requestFor(one))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe("\r")
  })

  test("is not looked for in an empty line, nor in somebody's draft", async () => {
    const one = await drawn(claude(""))
    const empty = { kind: "later", reason: "empty", what: "the input line is empty" }
    expect(await paster().finish(requestFor(one))).toEqual(empty)
    await one.draw(claude(DRAFT))
    const other = { kind: "later", reason: "draft", what: "the input line contains something else" }
    expect(await paster().finish(requestFor(one))).toEqual(other)
    expect(await one.all()).toBe("")
  })
})

describe("Escape", () => {
  test("ends the turn before a message that stops it, and only then", async () => {
    const one = await drawn(claude(""))
    onTestFinished(one.follow((got) => obeying(got.replace("\x1b", ""))))
    // A real agent takes Escape and a text that come together for another key.
    const at: number[] = []
    const timed: Partial<Panes> = {
      async key(...args) {
        const isPressed = await agents.panes.key(...args)
        if (args[1] === "Escape") at.push(performance.now())
        return isPressed
      },
      paste(...args) {
        at.push(performance.now())
        return agents.panes.paste(...args)
      },
    }
    expect(await pasterWith(timed).submit(requestFor(one, { isStop: true }))).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe(`\x1b${TEXT}\r`)
    expect(at[1]! - at[0]!).toBeGreaterThan(140)
  })

  test("is pressed once to interrupt, in copy mode too, which stays", async () => {
    const one = await drawn(claude(""))
    expect(await paster().interrupt(requestFor(one))).toEqual({ kind: "pressed" })
    expect(await one.all()).toBe("\x1b")
    agents.tmux("a", "copy-mode", "-t", one.pane.pane)
    expect(await paster().interrupt(requestFor(one))).toEqual({ kind: "pressed" })
    expect(await one.all()).toBe("\x1b\x1b")
    expect((await agents.panes.look(one.pane))!.isInMode).toBe(true)
  })

  test("is not pressed where somebody changed the pane after the look", async () => {
    const one = await drawn(claude(""))
    const look: Panes["look"] = async (address) => {
      const seen = await agents.panes.look(address)
      agents.tmux("a", "copy-mode", "-t", address.pane)
      return seen
    }
    expect(await pasterWith({ look }).interrupt(requestFor(one))).toEqual({
      ...{ kind: "gone", reason: "pane_other_program" },
    })
    expect(await one.all()).toBe("")
  })

  test("is pressed whatever the cursor does: an agent at work moves it", async () => {
    const one = await drawn(claude(""))
    const moved = { ...claude(""), cursor: { column: 9, row: 1 } }
    expect(await pasterWith(movingBehind(one, [moved])).interrupt(requestFor(one))).toEqual({ kind: "pressed" })
    expect(await one.all()).toBe("\x1b")
  })
})

describe("messages at the same time", () => {
  test("for one pane go one after another, each with its own Enter", async () => {
    const one = await obedient()
    const same = paster()
    const texts = ["first", "second", "third"]
    const results = await Promise.all(texts.map((text) => same.submit(requestFor(one, { text }))))
    expect(results).toEqual(texts.map((text) => ({ kind: "submitted", text })))
    expect(await one.all()).toBe("first\rsecond\rthird\r")
  })

  test("for one pane wait for a finish and an interrupt there as well", async () => {
    const one = await drawn(claude(TEXT))
    const same = paster()
    const order: string[] = []
    const gate = Promise.withResolvers<boolean>()
    const said = (what: string) => () => void order.push(what)
    const finishing = same.finish(requestFor(one, { isTaken: () => gate.promise })).then(said("finish"))
    await expect.poll(one.got, SOON).toBe("\r")
    const others = [
      same.interrupt(requestFor(one)).then(said("interrupt")),
      same.submit(requestFor(one, { isAgentThere: () => order.push("asked") < 0 })).then(said("submit")),
    ]
    // Too short a pause would prove nothing, and fail nothing.
    await sleep(100)
    expect(one.got()).toBe("\r")
    gate.resolve(true)
    await Promise.all([finishing, ...others])
    expect(order).toEqual(["finish", "interrupt", "asked", "submit"])
  })

  test("for one pane wait for the one before them, also when an earlier one is over", async () => {
    const one = await drawn(claude(TEXT))
    const same = paster()
    const gates = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()]
    const running = gates.map(({ promise }) => same.finish(requestFor(one, { isTaken: () => promise })))
    gates[0]!.resolve(true)
    await running[0]
    await expect.poll(one.got, SOON).toBe("\r\r")
    let isAsked = false
    const third = same.finish(
      requestFor(one, {
        isAgentThere() {
          isAsked = true
          return false
        },
      }),
    )
    // Too short a pause would prove nothing, and fail nothing.
    await sleep(100)
    expect(isAsked).toBe(false)
    gates[1]!.resolve(true)
    await Promise.all([running[1], third])
    expect(isAsked).toBe(true)
  })

  test("for another pane, or the same number in another server, do not wait", async () => {
    const [held, other, elsewhere] = [await drawn(claude(TEXT)), await obedient(), await obedient("b")]
    const same = paster()
    const gate = Promise.withResolvers<boolean>()
    const finishing = same.finish(requestFor(held, { isTaken: () => gate.promise }))
    const twin = { ...elsewhere, pane: { ...elsewhere.pane, pane: held.pane.pane } }
    expect(await same.submit(requestFor(other))).toMatchObject({ kind: "submitted" })
    // There is no such pane in the other server; what matters is that it is answered at once.
    expect(await same.submit(requestFor(twin))).toMatchObject({ kind: "gone" })
    gate.resolve(true)
    await finishing
  })

  test("are not held up by one that failed", async () => {
    const one = await obedient()
    const same = paster()
    const failing = same.submit(requestFor(one, { isAgentThere: () => Promise.reject(new Error("no such process")) }))
    const next = same.submit(requestFor(one))
    await expect(failing).rejects.toThrow("no such process")
    expect(await next).toEqual({ kind: "submitted", text: TEXT })
    expect(await one.all()).toBe(`${TEXT}\r`)
  })
})
