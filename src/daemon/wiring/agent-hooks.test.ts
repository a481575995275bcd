import { describe, expect, test } from "vitest"
import { agentSetups as agents } from "../../agents/list.ts"
import { hookPayload, type SentHook } from "../../domain/hook.ts"
import type { HookApprovals } from "../../permissions/asking.ts"
import { agentHooks, makeMissedStarts } from "./agent-hooks.ts"

const PLATFORM = "opencode"
const clock = { nowMs: () => 1_000_000 }
const sent = (event: string, more: object = {}): SentHook => ({
  platform: PLATFORM,
  key: `${event}-1`,
  atMs: clock.nowMs(),
  env: {},
  body: JSON.stringify({ hook_event_name: event, session_id: "ses_1", ...more }),
})
const hear = (hook: SentHook) => ({
  sent: hook,
  event: agents.find(({ platform }) => platform === PLATFORM)!.read(hookPayload(hook), hook.env),
  project: undefined,
})

/** Every session that begins is told the same. */
function made() {
  let marks = 0
  const missed = makeMissedStarts(clock, () => {
    marks += 1
  })
  const hooks = agentHooks({
    agents,
    intake: { receive: async (hook) => hear(hook), meet: async () => true, run: async () => {} },
    composeStartContext: async ({ event }) => (event.start === undefined ? undefined : "The rope is blue."),
    missed,
    reach: { turnContext: async () => undefined, wait: async () => ({ kind: "over" }) },
    asking: { heard: () => {} } as unknown as HookApprovals,
  })
  return { missed, onHook: hooks.onHook, marks: () => marks }
}
const gone = AbortSignal.abort()

describe("what a session that begins is told", () => {
  test("is told at its start, once", async () => {
    const { onHook } = made()
    expect(await onHook(sent("session.created"))).toBe("The rope is blue.")
    expect(await onHook(sent("chat.message"))).toBeUndefined()
  })

  test("is told at a prompt when nobody read it at the start, nor at the prompt before", async () => {
    const { onHook } = made()
    await onHook(sent("session.created"), gone)
    await onHook(sent("chat.message"), gone)
    expect(await onHook(sent("chat.message"))).toBe("The rope is blue.")
    expect(await onHook(sent("chat.message"))).toBeUndefined()
  })

  test("is told at a prompt when the start was spooled, also if the session has ended since and was resumed", async () => {
    const { onHook, missed } = made()
    missed.add(hear(sent("session.created")))
    missed.add(hear(sent("session.deleted")))
    expect(await onHook(sent("chat.message"))).toBe("The rope is blue.")
  })

  test("gets more time for its next prompt each time nobody read it: opencode on a busy machine was never told", async () => {
    const { onHook, marks } = made()
    await onHook(sent("session.created"), gone)
    expect(marks()).toBe(1)
    await onHook(sent("chat.message"), gone)
    expect(marks()).toBe(2)
    await onHook(sent("chat.message"))
    await onHook(sent("chat.message"))
    expect(marks()).toBe(2)
  })

  test("is not told to a sub-agent whose start was spooled", async () => {
    const { onHook, missed } = made()
    missed.add(hear(sent("session.created", { parent_id: "ses_0" })))
    expect(await onHook(sent("chat.message"))).toBeUndefined()
  })
})
