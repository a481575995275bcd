import { expect, test } from "vitest"
import { type ApprovalDeps, makePermissionButtons } from "./presses.ts"

/** A request that waits; nothing of it is asked before the button's name is known. */
const permission = { id: "q-1", questions: [], answers: {}, state: "waiting" }

test.each(["__proto__", "constructor", "toString", "hasOwnProperty-1", "valueOf", "", "allow2"])(
  "a button called %s is an old one, and decides nothing",
  async (verb) => {
    const decided: unknown[] = []
    const { press } = makePermissionButtons({
      store: { permissions: { byId: async () => permission } },
      permits: { decide: async (...all: unknown[]) => decided.push(all) },
    } as unknown as ApprovalDeps)
    const at = { chatId: "1", threadId: null, messageId: "2" }
    const answer = await press(`q-1:${verb}`, { userId: "7", name: "Ada" }, at as never)
    expect(answer).toMatchObject({ isAlert: true, text: expect.stringMatching(/outdated|older|no longer/) })
    expect(decided).toEqual([])
  },
)
