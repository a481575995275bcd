import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { makeRandom } from "../../bench/corpus/random.ts"
import { claudeCode } from "../../src/agents/claude-code/console.ts"
import { consoles } from "../../src/agents/list.ts"
import { promptHash } from "../../src/domain/ids.ts"
import { makePaster, type PasteRequest } from "../../src/queue/paste.ts"
import { makeHome } from "../fixtures/daemon.ts"
import { type FakeAgent, type FakeAgents, makeFakeAgents } from "../fixtures/fake-agents.ts"
import { receivedHooks } from "../fixtures/hooks.ts"
import { HOSTILE } from "../fixtures/hostile-texts.ts"
import { interleave } from "../fixtures/interleave.ts"

let agents: FakeAgents
beforeAll(() => {
  agents = makeFakeAgents()
})
afterAll(() => agents.end())

const paster = () => makePaster({ panes: agents.panes, consoles })
const requestFor = (agent: FakeAgent, text: string, more: Partial<PasteRequest> = {}): PasteRequest => ({
  platform: "claude-code",
  pane: agent.pane,
  text,
  isAgentThere: agent.isThere,
  ...more,
})
const idle = (agent: FakeAgent) => expect.poll(() => agent.registry()?.status, { timeout: 60_000 }).toBe("idle")

describe("hostile texts", () => {
  test("reach the agent byte for byte as prepared, one submit each, and run nothing", async () => {
    const agent = await agents.start({ name: "hostile" })
    const submit = paster()
    let count = 0
    for (const text of HOSTILE) {
      const ready = claudeCode.prepare(text, { isCommand: false })
      const result = await submit.submit(requestFor(agent, text))
      if ("refused" in ready) {
        expect(result).toEqual({ kind: "refused", reason: ready.refused })
        continue
      }
      expect(result).toEqual({ kind: "submitted", text: ready.text })
      count++
      const entries = await agent.until((all) => all.filter(({ kind }) => kind === "prompt").length >= count)
      const got = entries.filter(({ kind }) => kind === "prompt")
      expect(got).toHaveLength(count)
      expect(Buffer.from(got.at(-1)!.pasted!, "base64").toString("utf8")).toBe(ready.text)
      expect(promptHash(got.at(-1)!.text)).toBe(promptHash(ready.text))
      await idle(agent)
    }
    expect(count).toBeGreaterThan(70)
    expect(agent.log().filter(({ kind }) => !["started", "prompt", "turn"].includes(kind))).toEqual([])
    expect(existsSync(join(agents.dir, "projects", "hostile", "pwned"))).toBe(false)
    expect(agent.isThere()).toBe(true)
  }, 240_000)

  test("an agent that exited to a shell gets none of them", async () => {
    const agent = await agents.start({ name: "left", inShell: true })
    await paster().submit(requestFor(agent, "EXIT"))
    await expect.poll(agent.isThere, { timeout: 60_000 }).toBe(false)
    await expect.poll(async () => (await agents.panes.look(agent.pane))!.lines.join("").trim()).toBe("$")
    for (const text of HOSTILE.filter((one) => !("refused" in claudeCode.prepare(one, { isCommand: false }))))
      expect(await paster().submit(requestFor(agent, text))).toMatchObject({ kind: "gone" })
    expect((await agents.panes.look(agent.pane))!.lines.join("").trim()).toBe("$")
    expect(existsSync(join(agents.dir, "projects", "left", "pwned"))).toBe(false)
  }, 240_000)

  test("a shell in front of an agent that is registered as live gets nothing either: the screen shows no input line", async () => {
    const agent = await agents.start({ name: "lied", inShell: true })
    await paster().submit(requestFor(agent, "EXIT"))
    await expect.poll(agent.isThere, { timeout: 60_000 }).toBe(false)
    await expect.poll(async () => (await agents.panes.look(agent.pane))!.lines.join("").trim()).toBe("$")
    const result = await paster().submit(requestFor(agent, "touch pwned", { isAgentThere: () => true }))
    expect(result).toMatchObject({ kind: "later", reason: "unknown-screen" })
    expect((await agents.panes.look(agent.pane))!.lines.join("").trim()).toBe("$")
  })
})

describe("the screen's content decides", () => {
  test("no Enter and no paste while a dialog is open; afterwards it is submitted", async () => {
    const agent = await agents.start({ name: "dialog" })
    await paster().submit(requestFor(agent, "DIALOG rm -rf x"))
    await agent.until((all) => all.some(({ kind }) => kind === "dialog"))
    await expect.poll(() => agent.registry()?.status).toBe("waiting")
    expect(await paster().submit(requestFor(agent, "not now"))).toEqual({
      kind: "later",
      reason: "dialog",
      what: "Do you want to proceed?",
    })
    await agents.panes.key(agent.pane, "Escape")
    await idle(agent)
    expect(await paster().submit(requestFor(agent, "now"))).toMatchObject({ kind: "submitted" })
    await agent.until((all) => all.some(({ kind, text }) => kind === "prompt" && text === "now"))
    expect(agent.log().map(({ kind }) => kind)).not.toContain("dialog-accepted")
    expect(agent.log().map(({ kind }) => kind)).not.toContain("paste-thrown-away")
  })

  test("a dialog that opens between paste and Enter is not answered", async () => {
    const agent = await agents.start({ name: "surprise" })
    const { panes } = agents
    const surprised = makePaster({
      consoles,
      settleMs: 500,
      panes: {
        ...panes,
        async paste(address, text, guard) {
          const done = await panes.paste(address, text, guard)
          // Somebody else makes the agent ask in this very moment.
          await panes.key(address, "C-s")
          await panes.paste(address, "DIALOG rm -rf y")
          await panes.key(address, "Enter")
          await agent.until((all) => all.some(({ kind }) => kind === "dialog"))
          return done
        },
      },
    })
    expect(await surprised.submit(requestFor(agent, "hello"))).toMatchObject({ kind: "pasted", text: "hello" })
    await sleep(100)
    expect(agent.log().map(({ kind }) => kind)).not.toContain("dialog-accepted")
    await panes.key(agent.pane, "Escape")
    await idle(agent)
    // The stash has come back: the pasted text is in the input line, and is submitted without another paste.
    expect(await paster().finish(requestFor(agent, "hello"))).toEqual({ kind: "submitted", text: "hello" })
    await agent.until(() => agent.prompts().includes("hello"))
    expect(agent.prompts()).toEqual(["DIALOG rm -rf y", "hello"])
  })

  test("a draft is put aside and is there again afterwards; with one put aside already it is left alone", async () => {
    const agent = await agents.start({ name: "draft" })
    await agents.panes.paste(agent.pane, "half a thought")
    await expect.poll(async () => (await agents.panes.look(agent.pane))!.lines.join("\n")).toContain("half a thought")
    expect(await paster().submit(requestFor(agent, "whole message"))).toMatchObject({ kind: "submitted" })
    await agent.until(() => agent.prompts().length === 1)
    expect(agent.prompts()).toEqual(["whole message"])
    await idle(agent)
    const look = (await agents.panes.look(agent.pane))!
    expect(claudeCode.screen(look)).toEqual({ kind: "input", draft: "half a thought", isStashed: false })
    await agents.panes.key(agent.pane, "C-s")
    await agents.panes.paste(agent.pane, "another")
    await expect.poll(async () => (await agents.panes.look(agent.pane))!.lines.join("\n")).toContain("another")
    expect(await paster().submit(requestFor(agent, "later"))).toMatchObject({ kind: "later", reason: "draft" })
    expect(await paster().finish(requestFor(agent, "later"))).toMatchObject({ kind: "later", reason: "draft" })
    expect(agent.prompts()).toEqual(["whole message"])
  })

  test("somebody who scrolls back in copy mode stays there, at the same lines", async () => {
    const agent = await agents.start({ name: "copying" })
    const { pane } = agent.pane
    await agents.panes.paste(agent.pane, "half a thought")
    const screen = async () => claudeCode.screen((await agents.panes.look(agent.pane))!)
    await expect.poll(screen).toMatchObject({ draft: "half a thought" })
    agents.tmux("a", "copy-mode", "-t", pane)
    agents.tmux("a", "send-keys", "-t", pane, "-X", "cursor-up")
    agents.tmux("a", "send-keys", "-t", pane, "-X", "begin-selection")
    const place = "#{pane_in_mode} #{scroll_position} #{copy_cursor_x} #{copy_cursor_y} #{selection_present}"
    const where = () => agents.tmux("a", "display-message", "-p", "-t", pane, place)
    const before = where()
    expect(before).toMatch(/^1 /)
    expect(await paster().submit(requestFor(agent, "SLOW 60000"))).toMatchObject({ kind: "submitted" })
    await expect.poll(() => agent.registry()?.status).toBe("busy")
    expect(await paster().submit(requestFor(agent, "stop that", { isStop: true }))).toMatchObject({ kind: "submitted" })
    await agent.until((all) => all.some(({ kind }) => kind === "interrupted"))
    await agent.until(() => agent.prompts().length === 2)
    expect(agent.prompts()).toEqual(["SLOW 60000", "stop that"])
    expect(where()).toBe(before)
    await expect.poll(screen).toMatchObject({ draft: "half a thought", isStashed: false })
  })

  test("while it is busy a text is queued by the agent, and a stop interrupts first", async () => {
    const agent = await agents.start({ name: "busy" })
    await paster().submit(requestFor(agent, "SLOW 60000"))
    await expect.poll(() => agent.registry()?.status).toBe("busy")
    expect(await paster().submit(requestFor(agent, "urgent"))).toMatchObject({ kind: "submitted" })
    await agent.until(() => agent.prompts().length === 2)
    expect(await paster().submit(requestFor(agent, "stop that", { isStop: true }))).toMatchObject({ kind: "submitted" })
    await agent.until((all) => all.some(({ kind }) => kind === "interrupted"))
    await agent.until(() => agent.prompts().length === 3)
    await idle(agent)
  })

  test("an agent that hangs shows nothing of a paste, and gets no Enter", async () => {
    const agent = await agents.start({ name: "hanging" })
    await paster().submit(requestFor(agent, "HANG"))
    await sleep(300)
    const quick = makePaster({ panes: agents.panes, consoles, settleMs: 400 })
    expect(await quick.submit(requestFor(agent, "are you there"))).toMatchObject({ kind: "pasted" })
    expect(agent.prompts()).toEqual(["HANG"])
    process.kill(agent.pid, "SIGKILL")
  })

  test("a pane that is closed, a server that is restarted and a program that is respawned are others", async () => {
    const first = await agents.start({ name: "one", server: "r" })
    agents.tmux("r", "kill-server")
    await sleep(300)
    const second = await agents.start({ name: "two", server: "r" })
    expect(second.pane.pane).toBe(first.pane.pane)
    expect(await paster().submit(requestFor(first, "lost", { isAgentThere: () => true }))).toMatchObject({
      kind: "gone",
    })
    agents.tmux("r", "respawn-pane", "-k", "-t", second.pane.pane, agents.program)
    expect(await paster().submit(requestFor(second, "lost", { isAgentThere: () => true }))).toMatchObject({
      kind: "gone",
    })
    expect(await agents.panes.identify({ socket: agents.socket("r"), pane: "%99" })).toBeUndefined()
    expect(await agents.panes.identify({ socket: join(agents.dir, "none"), pane: "%0" })).toBeUndefined()
  })
})

test("8 panes in 2 servers with equal pane ids, focus moving, panes killed and a server restarted: none is misdelivered", async () => {
  const fleet = makeFakeAgents()
  onTestFinished(() => fleet.end())
  const found = await interleave({ agents: fleet, messages: 120, random: makeRandom(4) })
  expect(found).toMatchObject({ misdelivered: 0, duplicates: 0, lost: 0, refusedButWritten: 0 })
  expect(found.submitted + found.gone).toBe(120)
  expect(found.submitted).toBeGreaterThan(80)
  expect(found.gone).toBeGreaterThan(0)
}, 240_000)

test("a server without tmux says what to install", async () => {
  const { tmuxPanes } = await import("../../src/adapters/tmux/tmux.ts")
  const panes = tmuxPanes({ env: {}, program: join(agents.dir, "no-such-tmux") })
  await expect(panes.identify({ socket: "/x", pane: "%0" })).rejects.toMatchObject({ code: "dependency_missing" })
})

test("the fake agent fires the real hooks of a home, runs background hooks, and changes sessions as Claude Code does", async () => {
  const home = makeHome()
  onTestFinished(() => home.dispose())
  await home.run("setup", "claude-code", "--yes")
  await home.run("start")
  const fleet = makeFakeAgents(home)
  onTestFinished(() => fleet.end())
  const backgroundHook = {
    type: "command",
    command: "sleep 1; echo you have mail >&2; exit 2",
    asyncRewake: true,
    timeout: 60,
  }
  const settings = join(fleet.dir, "more.json")
  writeFileSync(settings, JSON.stringify({ hooks: { SessionStart: [{ hooks: [backgroundHook] }] } }))
  const agent = await fleet.start({ name: "web", args: ["--settings", settings] })
  const submit = makePaster({ panes: fleet.panes, consoles })
  await submit.submit(requestFor(agent, "TOOL"))
  const woken = await agent.until((all) => all.some(({ kind, text }) => kind === "turn" && text.includes("have mail")))
  expect(woken.find(({ kind }) => kind === "wake")?.text).toBe("you have mail\n")
  await idle(agent)
  const first = agent.registry()!.sessionId
  await submit.submit(requestFor(agent, "COMPACT\nCLEAR"))
  await expect.poll(() => agent.registry()?.sessionId, { timeout: 60_000 }).not.toBe(first)
  await idle(agent)
  await expect
    .poll(() => receivedHooks(home).map(({ event, start, end }) => [event, start ?? end ?? ""].join(" ").trim()), {
      timeout: 10_000,
    })
    .toEqual(
      expect.arrayContaining([
        ...["SessionStart startup", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "SessionStart compact"],
        ...["PostCompact", "SessionEnd clear", "SessionStart clear"],
      ]),
    )
  expect(receivedHooks(home)[0]).toMatchObject({ session: first })
}, 240_000)
