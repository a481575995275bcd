import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { geminiCli } from "./setup.ts"

const isUnattended = (pid: number) =>
  geminiCli.isUnattended!({ name: "SessionStart", pid, transcripts: [], details: {} })

/** A program of that name, in a terminal or with a pipe as its input. */
async function started(isInTerminal: boolean, args: string[]): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "gemini-"))
  const [script, socket] = [join(dir, "gemini"), join(dir, "t")]
  writeFileSync(script, "setTimeout(() => {}, 600_000)")
  const tmux = (...words: string[]) => execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words]).toString()
  const inPane = () => Number(tmux("new-session", "-d", "-P", "-F", "#{pane_pid}", process.execPath, script, ...args))
  const pid = isInTerminal ? inPane() : spawn(process.execPath, [script, ...args], { stdio: "pipe" }).pid!
  onTestFinished(() => {
    if (isInTerminal) tmux("kill-server")
    else process.kill(pid, "SIGKILL")
    rmSync(dir, { recursive: true })
  })
  // Until it runs, the process is tmux itself, whose own words name the script too.
  const words = () => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 2)
  await expect.poll(words, { timeout: 60_000 }).toEqual([process.execPath, script])
  return pid
}

describe.skipIf(process.platform !== "linux")("that nobody sits at Gemini CLI", () => {
  test.each<[string, boolean, string[], boolean]>([
    ["is not so in a terminal", true, [], false],
    ["is not so in a terminal with a first prompt", true, ["-i", "Hello"], false],
    ["is so in a terminal with its only prompt as a flag", true, ["-p", "Hello"], true],
    ["is so with its prompt from a pipe", false, [], true],
    ["is not so when an editor drives it", false, ["--acp"], false],
  ])("%s", { timeout: 120_000 }, async (_, isInTerminal, args, expected) => {
    expect(await isUnattended(await started(isInTerminal, args))).toBe(expected)
  })

  test("is not guessed of another program, or of one that is gone", async () => {
    expect([await isUnattended(process.pid), await isUnattended(2 ** 22 + 1)]).toEqual([false, false])
  })
})
