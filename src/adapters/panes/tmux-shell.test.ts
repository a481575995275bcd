import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { writeProgram } from "../../../test/fixtures/terminal.ts"
import { processStart } from "../../daemon/process-identity.ts"
import { makeTmuxRunner } from "./tmux-shell.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tmux-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Something in tmux's place. */
const runner = (script: string, maxMs?: number) => {
  writeProgram(dir, "tmux", script)
  const env = { PATH: `${dir}:/usr/bin:/bin` }
  return makeTmuxRunner({ env, ...(maxMs === undefined ? {} : { maxMs }) })
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

test("commands for one server run in their order, and each gets its own answer", async () => {
  const run = runner('[ "$4" = 0 ] && sleep 0.2; echo "$4"; echo "e$4" >&2')
  const ran = await Promise.all(["0", "1", "2"].map((word) => run("/s", [word])))
  expect(ran).toEqual(["0", "1", "2"].map((word) => ({ code: 0, stdout: `${word}\n`, stderr: `e${word}\n` })))
})

test("a server that hangs fails those that wait for it, and no other server; the next command runs", async () => {
  const run = runner('[ "$4" = hang ] && sleep 60; echo "$4"', 300)
  const hanging = [run("/a", ["hang"]), run("/a", ["after"])].map((one) => one.catch((error: unknown) => error))
  expect(await run("/b", ["other"])).toMatchObject({ stdout: "other\n" })
  for (const failure of await Promise.all(hanging))
    expect(failure).toMatchObject({
      code: "terminal_failing",
      message: "tmux did not answer within 300 ms",
      data: { command: "hang" },
    })
  expect(await run("/a", ["again"])).toMatchObject({ stdout: "again\n" })
})

test("a command that hangs is ended together with what it has started", async () => {
  const file = join(dir, "pid")
  const run = runner(`sleep 300 & echo $! >'${file}'; wait`, 5_000)
  await expect(run("/s", ["hang"])).rejects.toMatchObject({ code: "terminal_failing" })
  const pid = Number(readFileSync(file, "utf8"))
  expect(pid).toBeGreaterThan(1)
  await expect.poll(() => processStart(pid), { timeout: 60_000 }).toBeUndefined()
})

test("a shell that is killed fails the command that it ran, and the next one has another", async () => {
  const run = runner('[ "$4" = kill ] && kill -KILL $PPID; echo "$4"')
  await expect(run("/s", ["kill"])).rejects.toMatchObject({
    ...{ code: "terminal_failing", message: "tmux could not be run: its shell has ended" },
  })
  expect(await run("/s", ["again"], "text")).toMatchObject({ code: 0, stdout: "again\n" })
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
