import { execFileSync } from "node:child_process"
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, describe, expect, test } from "vitest"
import { type AskingHome, asking, fakeProgram } from "../fixtures/asking.ts"
import { makeHome } from "../fixtures/daemon.ts"

const SLOW_MS = 240_000
const isWithAgent = ({ status }: { status: string }) => status === "delivered" || status === "running"

/** Why no small disk can be made here; undefined if it can. */
const noMount = (() => {
  const dir = mkdtempSync(join(tmpdir(), "tl-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", dir], { stdio: "pipe" })
    execFileSync("umount", [dir], { stdio: "pipe" })
    return undefined
  } catch (error) {
    return `only root can make a small disk: ${(error as Error).message.split("\n")[1] ?? error}`
  } finally {
    rmdirSync(dir)
  }
})()

describe("a disk that is full, under teams that ask each other", () => {
  let b: AskingHome
  let disk: string
  afterEach(async () => {
    if (noMount !== undefined) return
    await b.home.run("stop", "--force")
    execFileSync("umount", ["-l", disk])
    await b.dispose()
  })
  const mountAt = (dir: string, size: string) => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", dir], { stdio: "pipe" })
    disk = dir
  }
  const begin = async (home: AskingHome["home"], programs: Record<string, string>) => {
    const dirOf = (team: string) => join(home.env.HOME!, "projects", team)
    const teams = Object.entries(programs).map(([team, program]) => {
      mkdirSync(dirOf(team), { recursive: true })
      return [team, { project: dirOf(team), program }]
    })
    mkdirSync(home.dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams: Object.fromEntries(teams) }))
    await home.run("start")
    b = asking(home, dirOf)
  }
  const fill = () => {
    const file = openSync(join(disk, "filler"), "a")
    try {
      for (;;) writeSync(file, Buffer.alloc(512))
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC")
    } finally {
      closeSync(file)
    }
  }

  test("ours: a question is refused with the reason, no answer is lost meanwhile, and nothing is asked twice", {
    timeout: SLOW_MS,
  }, async ({ skip }) => {
    skip(noMount !== undefined, noMount)
    const home = makeHome()
    mountAt(home.dir, "16m")
    const program = fakeProgram(home.env.HOME!)
    await begin(home, { api: program, web: program, docs: program })
    for (const team of ["api", "web", "docs"]) await b.ask(team, `<<SAY ${team}>>`)
    const { pid } = home.registration()
    // However long it takes to fill the disk: the answers come when it is full.
    const full = join(home.env.HOME!, "full")
    const slow = `<<UNTIL ${full}>>`
    const running = await Promise.all(["api", "web"].map((team) => b.ask(team, slow, { timeout: 0 })))
    for (const { messageId } of running) await b.until(messageId, isWithAgent)
    // What SQLite has put aside for itself is used up too.
    let refused: { code: string; message: string } | undefined
    for (let nth = 0; refused === undefined && nth < 300; nth++) {
      fill()
      const request = { team: "docs", question: `<<SAY ${nth}>> ${"x".repeat(50_000)}`, timeout: 0 }
      refused = await b.refused("teams_ask", request).catch(() => undefined)
    }
    expect(refused).toMatchObject({ code: "store_full", message: expect.stringContaining("disk is full") })
    writeFileSync(full, "")
    await sleep(4_000)
    const calls = b.modelCalls()
    for (const { messageId } of running)
      expect((await b.message(messageId)).status, "the truth as it is written").not.toBe("done")
    expect((await b.refused("teams_ask", { team: "docs", question: "<<SAY no>>" })).code).toBe("store_full")

    rmSync(join(disk, "filler"))
    for (const { messageId } of running)
      expect(await b.until(messageId, ({ status }) => status === "done")).toMatchObject({ answer: full })
    expect(await b.ask("api", "<<RECALL on>>")).toMatchObject({ answer: `heard: api ${full} on` })
    expect(b.modelCalls(), "no answer was made twice").toBeGreaterThan(calls)
    expect(b.prompts().filter((text) => text.includes(slow))).toHaveLength(2)
    expect(home.registration().pid, "the same daemon").toBe(pid)
  })

  test("an agent's: its question fails with the agent's error, and other pairs continue", { timeout: SLOW_MS }, async ({
    skip,
  }) => {
    skip(noMount !== undefined, noMount)
    const home = makeHome()
    const small = join(home.env.HOME!, "small")
    mountAt(small, "1m")
    const program = fakeProgram(home.env.HOME!)
    const onSmall = join(home.env.HOME!, "on-small")
    writeFileSync(onSmall, `#!/bin/sh\nCLAUDE_CONFIG_DIR='${small}' exec '${program}' "$@"\n`)
    chmodSync(onSmall, 0o755)
    await begin(home, { full: onSmall, fine: program })
    const { sessionId } = await b.ask("full", "<<SAY plum>>")
    fill()
    const [failed, fine] = await Promise.all([
      b.ask("full", `<<SAY fig>> ${"x".repeat(20_000)}`),
      b.ask("fine", "<<SAY kiwi>>"),
    ])
    expect(failed).toMatchObject({ status: "failed", reason: expect.stringContaining("ENOSPC") })
    expect(fine).toMatchObject({ status: "done", answer: "kiwi" })
    rmSync(join(small, "filler"))
    const next = await b.ask("full", "<<RECALL pit>>")
    expect(next).toMatchObject({ status: "done", sessionId })
    expect(next.answer).toMatch(/^heard: plum (fig )?pit$/)
  })
})
