import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { agentSetups, consoles, createDrivers, handoffTargets, lines, platforms } from "../../src/agents/list.ts"
import type { Machine } from "../../src/domain/platform.ts"
import type { FileEdit, Program } from "../../src/domain/setup.ts"
import { samples } from "../fixtures/platform-samples.ts"
import { plain } from "./console.ts"
import { platformContract } from "./platform.ts"

const ids = new Set(platforms.map(({ id }) => id))
const PROGRAM: Program = { node: "/opt/node", entry: "/opt/throughline.js", hook: "/opt/tl/hook", env: {} }

function home(): Machine {
  const homeDir = realpathSync(mkdtempSync(join(tmpdir(), "agents-")))
  onTestFinished(() => rmSync(homeDir, { recursive: true, force: true }))
  return { os: "linux", homeDir, env: {} }
}

function write(edits: FileEdit[]): void {
  for (const { path, after } of edits) {
    if (after === null) rmSync(path)
    else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, after)
    }
  }
}

for (const platform of platforms) platformContract(platform, [])

test("each agent has one id, and each of its parts names it", async () => {
  expect(ids.size).toBe(platforms.length)
  const drivers = await createDrivers()
  onTestFinished(() => void Promise.all(drivers.map((driver) => driver.close())))
  for (const part of [...agentSetups, ...consoles, ...handoffTargets, ...lines, ...drivers])
    expect(ids).toContain(part.platform)
})

test("each agent has a sample of its files", () => {
  expect(new Set(Object.keys(samples).map((name) => name.split("@")[0]))).toEqual(ids)
})

describe.each(agentSetups)("setup of $label", (setup) => {
  test("is complete after one run, and undone without a trace", () => {
    const machine = home()
    write(setup.plan(machine, PROGRAM))
    expect(setup.plan(machine, PROGRAM)).toEqual([])
    write(setup.remove(machine, PROGRAM))
    expect(setup.remove(machine, PROGRAM)).toEqual([])
    expect(setup.plan(machine, PROGRAM)).not.toEqual([])
    expect(JSON.stringify(setup.plan(machine, PROGRAM).map(({ before }) => before))).not.toContain(PROGRAM.hook)
  })

  test("does not read payloads of another form as a session", () => {
    expect(setup.read({}, {})).toMatchObject({ transcripts: [] })
    expect(setup.read({ session_id: 7, cwd: null, hook_event_name: ["x"] }, {}).sessionId).toBeUndefined()
  })
})

test.each(consoles)("$platform refuses an empty text, and no agent is live in an empty home", async (terminal) => {
  expect(plain(terminal, " \n")).toEqual({ refused: expect.any(String) })
  expect(await terminal.live(home())).toEqual([])
})

test.each(handoffTargets)("$platform continues a conversation by a file or by a first prompt", (target) => {
  if (!("session" in target)) return void expect(target.begin[0]).toMatch(/^[\w-]+$/)
  const machine = home()
  const handoff = {
    ...{ id: "0198b2c4-7c11-7d41-9d0a-3f6f1c2b4a55", from: { platform: "aider", nativeId: "n" }, title: "Which way?" },
    ...{ cwd: machine.homeDir, gitBranch: null, agentVersion: null, atMs: 1_785_571_200_000 },
    messages: [{ by: "person" as const, text: "Which way?", atMs: 1_785_571_100_000 }],
  }
  const { path, content } = target.session(handoff, machine)
  write([{ path, before: null, after: content, summary: "" }])
  const files = platforms.find(({ id }) => id === target.platform)!.places(machine)
  expect(files.some(({ dir }) => path.startsWith(`${dir}/`))).toBe(true)
  expect(readFileSync(path, "utf8")).toContain("Which way?")
})
