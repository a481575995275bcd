import { expect, test } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import { addProject, addSession, NOW } from "./examples.ts"

export function runsContract(store: () => Store): void {
  const here = { host: "here", pid: 7, pane: null as string | null }
  const agent = (nativeId: string) => addSession(store(), { platform: "claude-code", nativeId })

  test("a run has its beginning, what was heard of it last, and its end", async () => {
    const projectId = await addProject(store(), "lake")
    const session = await addSession(store(), { platform: "claude-code", nativeId: "a", projectId })
    const seen = (atMs: number, more: object = {}) =>
      store().runs.seen({ sessionId: session.id, ...here, atMs, ...more })
    await seen(NOW, { start: "startup" })
    await seen(NOW + 1)
    const run = {
      sessionId: session.id,
      platform: "claude-code",
      nativeId: "a",
      projectId,
      ...here,
      start: "startup",
      startedAtMs: NOW,
      seenAtMs: NOW + 1,
      endedAtMs: null,
      end: null,
    }
    expect(await store().runs.ofSession(session.id)).toEqual([run])
    await seen(NOW + 2, { end: "other", pane: "tmux %1" })
    expect(await store().runs.ofSession(session.id)).toEqual([
      { ...run, pane: "tmux %1", seenAtMs: NOW + 2, endedAtMs: NOW + 2, end: "other" },
    ])
    await seen(NOW + 3, { start: "resume" })
    expect(await store().runs.ofSession(session.id)).toEqual([
      { ...run, pane: "tmux %1", start: "resume", startedAtMs: NOW + 3, seenAtMs: NOW + 3 },
    ])
  })

  test("what comes late does not undo what came after it", async () => {
    const { id: sessionId } = await agent("a")
    await store().runs.seen({ sessionId, ...here, atMs: NOW + 5, start: "resume" })
    await store().runs.seen({ sessionId, ...here, atMs: NOW, end: "other" })
    expect(await store().runs.ofSession(sessionId)).toMatchObject([{ start: "resume", endedAtMs: null }])
  })

  test("another process, or the same number on another host, is another run", async () => {
    const { id: sessionId } = await agent("a")
    await store().runs.seen({ sessionId, ...here, atMs: NOW + 2 })
    await store().runs.seen({ sessionId, ...here, pid: 8, atMs: NOW + 1 })
    await store().runs.seen({ sessionId, ...here, host: "there", atMs: NOW })
    expect((await store().runs.ofSession(sessionId)).map(({ host, pid }) => `${host} ${pid}`)).toEqual([
      "there 7",
      "here 8",
      "here 7",
    ])
  })

  test("the session that a process is in is the one it was heard of last, until that ends, and no sub-agent's", async () => {
    const [first, second, helper] = [await agent("a"), await agent("b"), await agent("c")]
    const at = async (place: object = {}) => (await store().runs.at({ host: "here", pid: 7, ...place }))?.nativeId
    expect(await at()).toBeUndefined()
    await store().runs.seen({ sessionId: first.id, ...here, atMs: NOW + 1 })
    expect(await store().runs.at({ host: "here", pid: 7 })).toEqual({ platform: "claude-code", nativeId: "a" })
    await store().runs.seen({ sessionId: second.id, ...here, atMs: NOW })
    expect(await at()).toBe("a")
    await store().runs.seen({ sessionId: second.id, ...here, atMs: NOW + 2 })
    expect([await at(), await at({ pid: 8 }), await at({ host: "there" })]).toEqual(["b", undefined, undefined])
    const edge = { kind: "subagent" as const, parentPlatform: "claude-code", parentNativeId: "b", atMs: NOW + 3 }
    await store().sessions.addEdge(helper.id, edge)
    await store().runs.seen({ sessionId: helper.id, ...here, atMs: NOW + 3 })
    expect(await at()).toBe("b")
    await store().runs.seen({ sessionId: second.id, ...here, atMs: NOW + 4, end: "exit" })
    expect(await at()).toBeUndefined()
  })

  test("what a process ran before is found by the process, and else by the pane", async () => {
    const [first, second, third] = [await agent("a"), await agent("b"), await agent("c")]
    const other = await addSession(store(), { platform: "codex", nativeId: "x" })
    await store().runs.seen({ sessionId: first.id, ...here, pane: "t %1", atMs: NOW })
    await store().runs.seen({ sessionId: second.id, ...here, pane: "t %2", atMs: NOW + 1 })
    await store().runs.seen({ sessionId: third.id, ...here, pid: 9, pane: "t %1", atMs: NOW + 2 })
    await store().runs.seen({ sessionId: other.id, ...here, atMs: NOW + 3 })
    const before = async (place: { nativeId?: string; pid?: number; pane?: string; host?: string; atMs?: number }) =>
      (await store().runs.before({ platform: "claude-code", nativeId: "new", atMs: NOW + 9, ...here, ...place }))
        ?.nativeId
    expect(await before({})).toBe("b")
    expect(await before({ nativeId: "b" })).toBe("a")
    expect(await before({ atMs: NOW })).toBe("a")
    expect(await before({ pid: 10, pane: "t %1" })).toBe("c")
    expect(await before({ pid: 0, pane: "t %2" })).toBe("b")
    expect(await before({ pid: 10 })).toBeUndefined()
    expect(await before({ host: "there", pane: "t %1" })).toBeUndefined()
  })
}
