import { afterAll, beforeAll } from "vitest"
import { codex } from "../../../src/agents/codex/line.ts"
import { type CodexTerminal, openCodex } from "../../fixtures/codex-terminal.ts"
import { text } from "../../fixtures/model-api.ts"
import { type LineSession, lineContract } from "../line.ts"

let at: CodexTerminal
beforeAll(async () => {
  at = await openCodex()
}, 240_000)
afterAll(() => at.dispose())

/** A new conversation in the same terminal. */
async function session(): Promise<LineSession> {
  let gate: Promise<void> = Promise.resolve()
  at.model.script(async ({ turn }) => {
    await gate
    return [text(`Answer ${turn + 1}`)]
  })
  const nativeId = await at.start()
  return {
    machine: at.machine,
    nativeId,
    prompts: () => at.prompts(nativeId),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    shows: (what) => at.terminal.shows(what),
  }
}

lineContract(codex, session)
