import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { expect, onTestFinished, test } from "vitest"
import { isBelow } from "./process-tree.ts"

/** A shell that prints the number of what it has started, and stays until its input ends. */
async function shell(script: string): Promise<{ child: ChildProcess; printed: number }> {
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] })
  onTestFinished(async () => {
    child.stdin.end()
    if (child.exitCode === null) await once(child, "exit")
  })
  const [out] = (await once(child.stdout, "data")) as [Buffer]
  return { child, printed: Number(out.toString()) }
}

test("a process is below itself, what has started it, and what has started that", async () => {
  const { child, printed } = await shell("sh -c 'echo $$; read x; :'; :")
  expect(isBelow(printed, printed)).toBe(true)
  expect(isBelow(printed, child.pid!)).toBe(true)
  expect(isBelow(printed, process.pid)).toBe(true)
  expect(isBelow(printed, process.ppid)).toBe(true)
})

test("a process is not below one that it has started, nor below one beside it", async () => {
  const [one, two] = [await shell("echo $$; read x; :"), await shell("echo $$; read x; :")]
  expect(isBelow(process.pid, one.child.pid!)).toBe(false)
  expect(isBelow(one.child.pid!, two.child.pid!)).toBe(false)
})

test("nobody is said to be below the first process, nor is a process that is gone below anybody", async () => {
  expect(isBelow(process.pid, 1)).toBe(false)
  expect(isBelow(1, 1)).toBe(false)
  expect(isBelow(0, 0)).toBe(false)
  const child = spawn("true")
  await once(child, "exit")
  expect(isBelow(child.pid!, process.pid)).toBe(false)
})
