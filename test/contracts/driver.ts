import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Driver, PermissionRequest, TurnEnd } from "../../src/domain/driver.ts"
import type { DrivenHome } from "../fixtures/driven.ts"
import {
  bench,
  type DriverBench,
  hasHeard,
  type KilledMidTurn,
  killedMidTurn,
  processesOf,
} from "../fixtures/driver-bench.ts"

export interface DrivenAgent {
  driver: Driver
  home(): DrivenHome | Promise<DrivenHome>
  /** What it calls the tool that runs commands, and how a command stands in the tool's input. */
  shell: { tool: string | RegExp; input(command: string): unknown }
  /** How a turn ends in which something was denied, where the model is not told why. */
  denial?: RegExp
  /** The longest prompt that it takes, where that is less than 5 MB. */
  maxPromptChars?: number
  /** False where there is no program behind it that calls a server's tools. */
  hasTools?: boolean
}

const SOON_MS = 1_000
/** For what comes at once on a machine that is not busy with other things. */
const PATIENCE_MS = 60_000
const ECHO = fileURLToPath(new URL("../../bench/peers/echo-stdio.ts", import.meta.url))
const FOLDERS = ["a.b", "a_b", "a b", "ünï"]

/** What it means to be driven. Everything is asked of the agent itself; its model does what stands in the prompt. */
export function driverContract(name: string, agent: DrivenAgent): void {
  describe(name, { timeout: 60_000 }, () => {
    const { driver } = agent
    let home: DrivenHome
    let b: DriverBench
    let kept: { id: string; madeMs: number; end: TurnEnd }
    let killed: KilledMidTurn
    /** As old as it must be to be resumed. */
    const oldEnough = (madeMs: number) => sleep(Math.max(0, madeMs + driver.can.resumeAfterMs - Date.now()))

    beforeAll(async () => {
      home = await agent.home()
      b = bench(driver, home)
      const { session, say } = await b.start()
      kept = { id: session.nativeId, madeMs: Date.now(), end: await say("<<SAY quince>>") }
      await session.close()
      killed = await killedMidTurn(b, home, "<<HOLD kiwi>>")
    }, 240_000)
    afterAll(async () => {
      await b.closeAll()
      await driver.close()
      const left = await processesOf(home.dir)
      await home.close()
      expect(left, "processes that were left behind").toEqual([])
    }, 240_000)

    test("no model is asked to start, and one per prompt; the answer is what was said, and comes in pieces", async () => {
      const before = home.heard().length
      const { session, say, events } = await b.start()
      expect(home.heard().length).toBe(before)
      const end = await say("<<SAY plum>>")
      expect(end).toMatchObject({ status: "done", text: "plum", error: null })
      expect(end.durationMs).toBeGreaterThan(0)
      expect(home.heard().length).toBe(before + 1)
      expect(events.flatMap((event) => (event.kind === "text" ? event.text : [])).join("")).toBe("plum")
      if (driver.can.usage) {
        expect(end.usage!.inputTokens).toBeGreaterThan(0)
        expect(end.usage!.outputTokens).toBeGreaterThan(0)
      } else expect(end.usage).toBeNull()

      const second = await say("<<RECALL pear>>")
      expect(second.text).toBe("heard: plum pear")
      expect(home.heard().length).toBe(before + 2)
      expect(await session.memoryBytes()).toBeGreaterThan(10_000_000)
    })

    test.runIf(driver.can.chooseId)("a new session has the id that we choose", async () => {
      const id = randomUUID()
      const { session, say } = await b.start({ session: { kind: "new", id } })
      expect(session.nativeId).toBe(id)
      await say("<<SAY here>>")
      await session.close()
      await expect(b.start({ session: { kind: "new", id } })).rejects.toMatchObject({ code: "agent_failed" })
    })

    test("a turn is cancelled within a second, also one that has hardly begun, and the next prompt is answered", async () => {
      const { session, say, prompt } = await b.start()
      const running = prompt("<<HOLD lemon>>")
      await hasHeard(home, "lemon")
      const cancelledMs = performance.now()
      await session.cancel()
      expect(await running).toMatchObject({ status: "cancelled", error: null })
      expect(performance.now() - cancelledMs).toBeLessThan(PATIENCE_MS)
      expect((await say("<<SAY lime>>")).text).toBe("lime")

      const hardly = prompt("<<HOLD melon>>")
      await session.cancel()
      expect(await hardly).toMatchObject({ status: "cancelled" })
      expect((await say("<<SAY fig>>")).text).toBe("fig")
      await session.cancel()
      expect((await say("<<SAY date>>")).text).toBe("date")
    })

    test("a prompt while a turn runs is refused, and the turn goes on", async () => {
      const { session, prompt } = await b.start()
      const running = prompt("<<HOLD first>>")
      await expect(prompt("<<SAY second>>")).rejects.toMatchObject({ code: "agent_busy" })
      await hasHeard(home, "first")
      await session.cancel()
      await running
      expect(home.heard().at(-1)).not.toContain("second")
    })

    test("it asks before it does something, with the tool and its whole input: allowed, it is done", async () => {
      const asked: PermissionRequest[] = []
      const { say, dir, events } = await b.start({
        async onPermission(request) {
          asked.push(request)
          return { behavior: "allow" }
        },
      })
      const command = `echo ${"long".repeat(200)} > allowed.txt && echo finished`
      const end = await say(`<<RUN ${command.replaceAll(">", "»")}>>`)
      expect(end.status).toBe("done")
      expect(asked).toHaveLength(1)
      expect(asked[0]!.tool).toMatch(agent.shell.tool)
      expect(asked[0]!.input).toMatchObject(agent.shell.input(command) as object)
      expect(asked[0]!.title).not.toBe("")
      expect(end.text).toMatch(/^ran: [\s\S]*finished/)
      expect(existsSync(join(dir, "allowed.txt"))).toBe(true)
      const tools = events.flatMap((event) => (event.kind === "tool" ? event.state : []))
      expect(tools).toEqual(["started", "ended"])
    })

    test("denied, it is not done, and the model is told", async () => {
      const { say, dir } = await b.start({
        onPermission: async () => ({ behavior: "deny", message: "Not on Sundays." }),
      })
      const end = await say("<<RUN touch denied.txt>>")
      expect(existsSync(join(dir, "denied.txt"))).toBe(false)
      if (driver.can.denyReason) expect(end.text).toContain("Not on Sundays.")
      else expect(`${end.status} ${end.text}`).toMatch(agent.denial!)
      expect((await say("<<SAY still here>>")).text).toBe("still here")
    })

    test.runIf(driver.can.suggestions)("with one of the offered rules it does not ask again for the same", async () => {
      let asked = 0
      const { say, dir } = await b.start({
        async onPermission({ suggestions }) {
          asked += 1
          expect(suggestions[0]!.label).not.toBe("")
          return { behavior: "allow", always: 0 }
        },
      })
      await say("<<RUN touch always.txt>>")
      expect(existsSync(join(dir, "always.txt"))).toBe(true)
      await say("<<RUN touch always.txt>>")
      expect(asked).toBe(1)
    })

    test.runIf(driver.can.updatedInput)("allowed with another input, that one is run", async () => {
      const { say, dir } = await b.start({
        onPermission: async ({ input }) => ({
          behavior: "allow",
          updatedInput: { ...input, command: "touch instead.txt" },
        }),
      })
      expect((await say("<<RUN touch meant.txt>>")).status).toBe("done")
      expect([existsSync(join(dir, "instead.txt")), existsSync(join(dir, "meant.txt"))]).toEqual([true, false])
    })

    test("nobody is asked where permissions are to be skipped", async () => {
      const { say, dir } = await b.start({ skipPermissions: true })
      await say("<<RUN touch skipped.txt>>")
      expect(existsSync(join(dir, "skipped.txt"))).toBe(true)
    })

    test("a cancelled turn takes its question back", async () => {
      const { promise: asked, resolve } = Promise.withResolvers<AbortSignal>()
      const { session, say, prompt } = await b.start({
        onPermission(_, signal) {
          resolve(signal)
          return new Promise(() => {})
        },
      })
      const running = prompt("<<RUN touch never.txt>>")
      const signal = await asked
      await session.cancel()
      expect((await running).status).toBe("cancelled")
      expect(signal.aborted).toBe(true)
      expect((await say("<<SAY on>>")).text).toBe("on")
    })

    test("a process that is killed in a turn is known to be gone within a second, with all that it started", async () => {
      expect(killed.end.status).toBe("failed")
      expect(killed.end.error).toContain("SIGKILL")
      expect(killed.gone).toContain("SIGKILL")
      expect(killed.knownAfterMs).toBeLessThan(PATIENCE_MS)
      expect(await killed.session.prompt({ id: "late", text: "x" }, { onEvent() {} })).toMatchObject({
        status: "failed",
      })

      const endless = "tail -f /dev/null"
      const { session, prompt } = await b.start({ skipPermissions: true })
      const running = prompt(`<<RUN ${endless}>>`)
      await b.until(async () => (await processesOf(home.dir)).some((line) => line.endsWith(endless)))
      process.kill(session.pid, "SIGKILL")
      expect((await running).status).toBe("failed")
      await b.until(async () => !(await processesOf(home.dir)).some((line) => line.endsWith(endless)))
    })

    test.runIf(driver.can.ping)(
      "it says that it is there, no model asked; one that hangs does not, and is ended",
      async () => {
        // A home of its own: what hangs may be a process that others share.
        const own = await agent.home()
        const beside = bench(driver, own)
        const { session, prompt } = await beside.start()
        const answered = (ms: number) => Promise.race([session.ping!().then(() => true), sleep(ms, false)])
        expect(await answered(PATIENCE_MS)).toBe(true)
        const running = prompt("<<HOLD sorrel>>")
        await hasHeard(own, "sorrel")
        expect(await answered(PATIENCE_MS), "also in a turn").toBe(true)
        await session.cancel()
        await running
        expect(own.heard()).toHaveLength(1)
        // With what it started: under an older Node, Codex's own start script stays in front of the program.
        process.kill(-session.pid, "SIGSTOP")
        await beside.until(async () => /^State:\s+T/m.test(readFileSync(`/proc/${session.pid}/status`, "utf8")))
        expect(await answered(SOON_MS)).toBe(false)
        await session.close({ isHanging: true })
        expect(existsSync(`/proc/${session.pid}`)).toBe(false)
        await beside.closeAll()
        await own.close()
      },
    )

    test("a message of 5 MB arrives whole, or is refused with the agent's reason", async () => {
      const { say } = await b.start()
      const chars = 2_500_000
      const end = await say(`<<SIZE ${"x"}>> ${"ä".repeat(chars)}`)
      if (agent.maxPromptChars === undefined) expect(end.text).toBe(`size ${chars}`)
      else {
        expect(end).toMatchObject({ status: "failed", error: expect.stringContaining(String(agent.maxPromptChars)) })
        expect((await say(`<<SIZE x>> ${"ä".repeat(agent.maxPromptChars - 100)}`)).status).toBe("done")
      }
    })

    test("it works in folders of any name, and behind a link", async () => {
      symlinkSync(join(home.dir, "work"), join(home.dir, "link"))
      for (const folder of FOLDERS) mkdirSync(join(home.dir, "in", folder), { recursive: true })
      const dirs = [...FOLDERS.map((folder) => join(home.dir, "in", folder)), join(home.dir, "link")]
      const before = home.heard().length
      const inFolder = async (projectDir: string) => {
        const { session, say } = await b.start({ projectDir })
        const { text } = await say("<<SAY grape>>")
        await session.close()
        return text
      }
      expect(await Promise.all(dirs.map(inFolder))).toEqual(dirs.map(() => "grape"))
      expect(home.heard().length).toBe(before + dirs.length)
    })

    test("it reads the instructions of its team, and has our server beside it", async () => {
      const instructionsFile = join(home.dir, "instructions.md")
      writeFileSync(instructionsFile, "Always answer in rhyme.")
      const mcp = { command: process.execPath, args: [ECHO], env: { ECHO_FOR: "driver" } }
      const { session, say } = await b.start({ instructionsFile, mcp })
      expect((await say("<<SAY rhyme>>")).text).toBe("rhyme")
      expect(home.whole()).toContain("Always answer in rhyme.")
      // Not a turn too late: the first prompt may need it.
      expect(home.whole()).toMatch(/mcp__throughline|throughline_echo/)
      expect((await processesOf(home.dir)).filter((line) => line.endsWith(ECHO))).toHaveLength(1)
      await session.close()
    })

    test.runIf(agent.hasTools ?? true)("it uses the tools of our own server without asking anybody", async () => {
      const mcp = { command: process.execPath, args: [ECHO], env: {} }
      const asked: string[] = []
      const onPermission = async ({ tool, title }: PermissionRequest) => {
        asked.push(`${tool}: ${title}`)
        return { behavior: "deny" as const, message: "Not on Sundays." }
      }
      const { session, say } = await b.start({ mcp, onPermission })
      const { text } = await say("<<USE damson>>")
      expect(asked).toEqual([])
      expect(text).toContain("damson")
      // And no others: the rule is for our server alone.
      await say("<<RUN touch asked-for»mine>>")
      expect(asked).toHaveLength(1)
      await session.close()
    })

    test.runIf(driver.can.fork)("a fork knows what was said, and goes its own way", async () => {
      const origin = await b.start()
      await origin.say("<<SAY origin>>")
      const as = randomUUID()
      const fork = await b.start({ session: { kind: "fork", id: origin.session.nativeId, as } })
      if (driver.can.chooseId) expect(fork.session.nativeId).toBe(as)
      expect(fork.session.nativeId).not.toBe(origin.session.nativeId)
      expect((await fork.say("<<RECALL branch>>")).text).toBe("heard: origin branch")
      expect((await origin.say("<<RECALL trunk>>")).text).toBe("heard: origin trunk")
    })

    test.runIf(driver.can.compact)("it shortens its history when told to, and goes on", async () => {
      const { session, say } = await b.start()
      await say("<<SAY before>>")
      expect(await session.compact!()).toMatchObject({ status: "done" })
      expect((await say("<<SAY after>>")).text).toBe("after")
    })

    test("what cannot be started says so: no program, no folder, no such session, settings that it does not take", async () => {
      await expect(b.start({ program: join(home.dir, "none") })).rejects.toMatchObject({ code: "agent_missing" })
      await expect(b.start({ projectDir: join(home.dir, "gone") })).rejects.toMatchObject({ code: "root_not_found" })
      const unknown = { kind: "resume" as const, id: randomUUID() }
      await expect(b.start({ session: unknown })).rejects.toMatchObject({ code: "cannot_resume" })
      if (driver.can.settings) return
      await expect(b.start({ settingsFile: "/x.json" })).rejects.toMatchObject({ code: "bad_input" })
    })

    test("after it was closed, the session goes on in another process", { timeout: 240_000 }, async () => {
      expect(kept.end.text).toBe("quince")
      await oldEnough(kept.madeMs)
      const { session, say } = await b.start({ session: { kind: "resume", id: kept.id } })
      expect(session.nativeId).toBe(kept.id)
      expect((await say("<<RECALL apple>>")).text).toBe("heard: quince apple")
    })

    test("after it was killed in a turn, it goes on, and that prompt is there once", { timeout: 240_000 }, async () => {
      await oldEnough(killed.madeMs)
      const { say } = await b.start({ session: { kind: "resume", id: killed.session.nativeId } })
      expect((await say("<<RECALL mango>>")).text).toBe("heard: early kiwi mango")
      expect(home.heard().at(-1)!.split("<<HOLD kiwi>>")).toHaveLength(2)
    })
  })
}
