import { MessageChannel } from "node:worker_threads"
import { afterEach, expect, test } from "vitest"
import { Failure } from "../domain/failure.ts"
import { makeThreadPeer } from "./thread-rpc.ts"

interface Sums {
  add(a: number, b: number): Promise<number>
  note(text: string): void
  fail(how: string): never
  hang(): Promise<never>
}

const open: MessageChannel[] = []
afterEach(() => {
  for (const { port1 } of open.splice(0)) port1.close()
})

function pair() {
  const channel = new MessageChannel()
  open.push(channel)
  const notes: string[] = []
  const errors: string[] = []
  const sums: Sums = {
    add: async (a, b) => a + b,
    note: (text) => void notes.push(text),
    fail(how) {
      throw how === "known" ? new Failure("root_not_found", "no such root", { root: "/x" }) : new Error(how)
    },
    hang: () => new Promise(() => {}),
  }
  makeThreadPeer(channel.port2, { ...sums }, (error, what) => errors.push(`${what}: ${(error as Error).message}`))
  return { peer: makeThreadPeer<Sums>(channel.port1, {}), notes, errors }
}

test("calls are answered by number, and what is told arrives before what is called after it", async () => {
  const { peer, notes } = pair()
  peer.tell("note", "first")
  expect(await Promise.all([peer.call("add", 1, 2), peer.call("add", 3, 4)])).toEqual([3, 7])
  expect(notes).toEqual(["first"])
  expect(peer.pending).toBe(0)
})

test("what is thrown comes back as a Failure with its code and data, and is heard of where it was thrown", async () => {
  const { peer, errors } = pair()
  await expect(peer.call("fail", "known")).rejects.toMatchObject({ code: "root_not_found", data: { root: "/x" } })
  await expect(peer.call("fail", "broken")).rejects.toMatchObject({ code: "internal", message: "broken" })
  peer.tell("fail", "told")
  await peer.call("add", 0, 0)
  expect(errors).toEqual(["fail: no such root", "fail: broken", "fail: told"])
})

test("closing rejects what waits and what is called later", async () => {
  const { peer } = pair()
  const waiting = peer.call("hang")
  expect(peer.pending).toBe(1)
  peer.close(new Error("gone"))
  await expect(waiting).rejects.toThrow("gone")
  await expect(peer.call("add", 1, 2)).rejects.toThrow("gone")
})
