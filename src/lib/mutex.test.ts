import { expect, test } from "vitest"
import { makeKeyedMutex, makeMutex } from "./mutex.ts"

function stage() {
  const log: string[] = []
  const gates = new Map<string, () => void>()
  const work = (name: string) => async () => {
    log.push(`+${name}`)
    await new Promise<void>((resolve) => gates.set(name, resolve))
    log.push(`-${name}`)
    return name
  }
  const turns = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { log, work, finish: (name: string) => gates.get(name)!(), turns }
}

test("a mutex runs one at a time in the order given, passes results on, and goes on after a failure", async () => {
  const { log, work, finish, turns } = stage()
  const mutex = makeMutex()
  const first = mutex(work("a"))
  const failing = mutex(() => Promise.reject(new Error("broken")))
  const last = mutex(work("b"))
  await turns()
  expect(log).toEqual(["+a"])
  finish("a")
  expect(await first).toBe("a")
  await expect(failing).rejects.toThrow("broken")
  await turns()
  finish("b")
  expect(await last).toBe("b")
  expect(log).toEqual(["+a", "-a", "+b", "-b"])
})

test("a keyed mutex keeps one key in order and lets other keys run at the same time", async () => {
  const { log, work, finish, turns } = stage()
  const mutex = makeKeyedMutex()
  const all = [mutex("x", work("a")), mutex("x", work("b")), mutex("y", work("c"))]
  await turns()
  expect(log).toEqual(["+a", "+c"])
  finish("a")
  await turns()
  expect(log.at(-1)).toBe("+b")
  finish("b")
  finish("c")
  expect(await Promise.all(all)).toEqual(["a", "b", "c"])
  await expect(mutex("x", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken")
  expect(await mutex("x", async () => "again")).toBe("again")
})
