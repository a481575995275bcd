import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { writeProgram } from "../../../test/fixtures/terminal.ts"
import { processStart } from "../../daemon/process/process-identity.ts"
import { makeTmuxRunner } from "./tmux-shell.ts"

const SOON_MS = 20_000

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tmux-"))
  // Only these two: programs take their real time, and nobody waits for the limits.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})
afterEach(async () => {
  // Ends the shells that are idle.
  await vi.advanceTimersByTimeAsync(60_000)
  vi.useRealTimers()
  vi.restoreAllMocks()
  rmSync(dir, { recursive: true, force: true })
})

/** Something in tmux's place. */
const runner = (script: string, maxMs?: number) => {
  writeProgram(dir, "tmux", script)
  const env = { PATH: `${dir}:/usr/bin:/bin`, TMUX: "another server" }
  return makeTmuxRunner({ env, ...(maxMs === undefined ? {} : { maxMs }) })
}
const file = (name: string) => join(dir, name)
/** `expect.poll` would advance the clock. */
async function until(isSo: () => boolean): Promise<void> {
  for (const untilMs = Date.now() + SOON_MS; !isSo(); ) {
    if (Date.now() > untilMs) throw new Error(`this did not come true: ${isSo}`)
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        clearInterval(timer)
        resolve()
      }, 5)
    })
  }
}
const isWritten = (name: string) => until(() => existsSync(file(name)))
const isGone = (pid: number) => until(() => processStart(pid) === undefined)
/** Nothing that arrives meanwhile is read. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
/** What keeps this process from ending. */
const heldOpen = () => {
  const all = process.getActiveResourcesInfo()
  return ["ProcessWrap", "PipeWrap"].map((kind) => all.filter((one) => one === kind).length)
}

test("arguments and text arrive as they are, whatever a shell would read in them", async () => {
  const run = runner(`printf '<%s>' "$@"; cat; echo "$TMUX" >&2; exit 3`)
  const nasty = `it's "$(touch pwned)" \`id\` \\ $HOME ;\n#{x} '\\'' \u{1f600}`
  expect(await run("/s", [nasty, "", "-x;"], `${nasty}\n\n`)).toEqual({
    code: 3,
    stdout: `<-u><-S></s><${nasty}><><-x;>${nasty}\n\n`,
    stderr: "\n",
  })
  expect(await run("/s", [], "x".repeat(200_000))).toMatchObject({ stdout: `<-u><-S></s>${"x".repeat(200_000)}` })
  expect(await run("/s", ["none"])).toMatchObject({ stdout: "<-u><-S></s><none>" })
})

describe("an answer", () => {
  test("may be empty", async () => {
    expect(await runner("exit 12")("/s", ["x"])).toEqual({ code: 12, stdout: "", stderr: "" })
  })

  // As much is read at once as this many bytes: what tells the end of the answer then comes in two pieces.
  test.each([0, 1, 20, 37, 38, 39, 40])(
    "is whole where it comes in pieces, cut %i bytes behind its end",
    async (cut) => {
      const size = 65_536 - cut
      const run = runner(`head -c ${size} /dev/zero | tr '\\0' x; head -c ${size} /dev/zero | tr '\\0' y >&2; exit 3`)
      const running = run("/s", ["x"])
      block(80)
      expect(await running).toEqual({ code: 3, stdout: "x".repeat(size), stderr: "y".repeat(size) })
      expect(await run("/s", ["x"])).toEqual({ code: 3, stdout: "x".repeat(size), stderr: "y".repeat(size) })
    },
  )

  test("waits for standard error where that has more to come", async () => {
    const run = runner("head -c 3000000 /dev/zero >&2 & exit 3")
    const { code, stdout, stderr } = await run("/s", ["x"])
    expect([code, stdout]).toEqual([3, ""])
    expect(stderr).toMatch(/^\0*$/)
  })
})

test("commands for one server run in their order, and each gets its own answer", async () => {
  const run = runner('[ "$4" = 0 ] && sleep 0.1; echo "$4"; echo "e$4" >&2')
  const ran = await Promise.all(["0", "1", "2"].map((word) => run("/s", [word])))
  expect(ran).toEqual(["0", "1", "2"].map((word) => ({ code: 0, stdout: `${word}\n`, stderr: `e${word}\n` })))
})

describe("a command that hangs", () => {
  const hanging = () => `[ "$4" = hang ] && { : >'${file("hangs")}'; sleep 300; }; echo $PPID`

  test("fails those that wait for its server, and no other server; the next command runs", async () => {
    const run = runner(hanging(), 300)
    const failing = [run("/a", ["hang"]), run("/a", ["after"])].map((one) => one.catch((error: unknown) => error))
    const other = await run("/b", ["other"])
    await isWritten("hangs")
    await vi.advanceTimersByTimeAsync(299)
    expect(await Promise.race([...failing, "still waited for"])).toBe("still waited for")
    await vi.advanceTimersByTimeAsync(1)
    for (const failure of await Promise.all(failing))
      expect(failure).toMatchObject({
        code: "terminal_failing",
        message: "tmux did not answer within 300 ms",
        data: { command: "hang" },
      })
    const again = await run("/a", ["again"])
    expect(again.code).toBe(0)
    expect(await run("/b", ["other"])).toEqual(other)
  })

  test("has ten seconds", async () => {
    const run = runner(`: >'${file("hangs")}'; sleep 300`)
    const failure = run("/s", []).catch((error: unknown) => error)
    await isWritten("hangs")
    await vi.advanceTimersByTimeAsync(9_999)
    expect(await Promise.race([failure, "still waited for"])).toBe("still waited for")
    await vi.advanceTimersByTimeAsync(1)
    expect(await failure).toMatchObject({ message: "tmux did not answer within 10000 ms", data: { command: "" } })
  })

  test("is ended together with what it has started", async () => {
    const run = runner(`sleep 300 & echo $! >'${file("part")}'; mv '${file("part")}' '${file("pid")}'; wait`)
    const failure = run("/s", ["hang"]).catch((error: unknown) => error)
    await isWritten("pid")
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await failure).toMatchObject({ code: "terminal_failing" })
    const pid = Number(readFileSync(file("pid"), "utf8"))
    expect(pid).toBeGreaterThan(1)
    await isGone(pid)
  })

  test("leaves the next shell alone when its own has ended at last", async () => {
    const run = runner(hanging())
    const { stdout: first } = await run("/s", ["first"])
    const failure = run("/s", ["hang"]).catch((error: unknown) => error)
    await isWritten("hangs")
    await vi.advanceTimersByTimeAsync(10_000)
    await failure
    const { stdout: second } = await run("/s", ["second"])
    expect(second).not.toBe(first)
    await isGone(Number(first))
    // Its end is heard of in the same turn as this answer, or before it.
    await run("/s", ["third"])
    expect(await run("/s", ["fourth"])).toMatchObject({ stdout: second })
  })
})

describe("a shell", () => {
  const SELF = "echo $PPID"

  test("stays for half a minute after its last command, and is ended then", async () => {
    const run = runner(SELF)
    const { stdout: first } = await run("/s", ["x"])
    await vi.advanceTimersByTimeAsync(29_999)
    expect(await run("/s", ["x"])).toMatchObject({ stdout: first })
    await vi.advanceTimersByTimeAsync(29_999)
    expect(processStart(Number(first))).toBeDefined()
    await vi.advanceTimersByTimeAsync(1)
    await isGone(Number(first))
    const { stdout: second } = await run("/s", ["x"])
    expect(second).not.toBe(first)
  })

  test("is another one for another server", async () => {
    const run = runner(SELF)
    const [a, b] = [await run("/a", ["x"]), await run("/b", ["x"])]
    expect(a.stdout).not.toBe(b.stdout)
    expect(await run("/a", ["x"])).toEqual(a)
  })

  test("keeps this process from ending while a command runs, and not after it", async () => {
    const run = runner(`: >'${file("runs")}'; until [ -e '${file("go")}' ]; do sleep 0.01; done; rm '${file("go")}'`)
    const before = heldOpen()
    for (let times = 0; times < 2; times++) {
      const running = run("/s", ["x"])
      expect(heldOpen()).toEqual([before[0]! + 1, before[1]! + 3])
      await isWritten("runs")
      expect(heldOpen()).toEqual([before[0]! + 1, before[1]! + 3])
      writeProgram(dir, "go", "")
      await running
      rmSync(file("runs"))
      await until(() => heldOpen().every((count, i) => count === before[i]))
    }
    const failure = run("/s", ["x"]).catch(() => heldOpen())
    await isWritten("runs")
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await failure).toEqual(before)
  })

  test("that is killed fails the command that it ran, and the next one has another", async () => {
    const kill = vi.spyOn(process, "kill")
    const run = runner('[ "$4" = kill ] && kill -KILL $PPID; echo "$4"')
    await expect(run("/s", ["kill"])).rejects.toMatchObject({
      ...{ code: "terminal_failing", message: "tmux could not be run: its shell has ended" },
    })
    expect(vi.getTimerCount(), "nobody waits for its answer").toBe(0)
    // Its number may be another's by now.
    expect(kill).not.toHaveBeenCalled()
    expect(await run("/s", ["again"], "text")).toMatchObject({ code: 0, stdout: "again\n" })
  })

  test("that is killed while it is idle fails what is written to it before that is known", async () => {
    const run = runner(SELF)
    const { stdout: first } = await run("/s", ["x"])
    process.kill(Number(first), "SIGKILL")
    block(50)
    await expect(run("/s", ["x"], "x".repeat(300_000))).rejects.toMatchObject({
      message: "tmux could not be run: its shell has ended",
    })
    const { stdout: second } = await run("/s", ["x"])
    expect(second).not.toBe(first)
  })
})

test("tmux that is not there is missing, and one that cannot be run is failing", async () => {
  const env = { PATH: "/nowhere" }
  const missing = { code: "dependency_missing", message: "tmux is not installed, or not on the daemon's PATH" }
  await expect(makeTmuxRunner({ env })("/s", ["x"])).rejects.toMatchObject(missing)
  const program = join(dir, "folder")
  await expect(makeTmuxRunner({ env, program: dir })("/s", ["x"])).rejects.toMatchObject({
    ...{ code: "terminal_failing", message: expect.stringMatching(/^tmux could not be run: .+\S$/) },
  })
  await expect(makeTmuxRunner({ env, program })("/s", ["x"])).rejects.toMatchObject({ code: "dependency_missing" })
})
