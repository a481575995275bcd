import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, describe, expect, test } from "vitest"
import type { AgentLine, OpenLine } from "../../src/domain/agent-line.ts"
import { newMessageId } from "../../src/domain/ids.ts"
import type { Machine } from "../../src/domain/platform.ts"

/** A session of the real agent, idle, that a terminal shows. */
export interface LineSession {
  machine: Machine
  nativeId: string
  /** What the model was told as the user's words, oldest first, turn by turn. */
  prompts(): string[]
  /** From now on the model is silent until it is let go. */
  hold(): () => void
  shows(what: string): Promise<void>
}

const SOON = { timeout: 60_000, interval: 50 }

/** What every line means: taken once, exactly, in order, and it says so afterwards. */
export function lineContract(line: AgentLine, session: () => Promise<LineSession>): void {
  describe(`the line of ${line.platform}`, () => {
    let opened: OpenLine | undefined
    let release: (() => void) | undefined
    afterEach(() => {
      release?.()
      opened?.close()
      release = opened = undefined
    })
    const open = async ({ machine, nativeId }: LineSession): Promise<OpenLine> => {
      opened = await line.open(machine, { nativeId })
      expect(opened).toMatchObject({ isLive: true })
      return opened!
    }
    const isIdle = (way: OpenLine) => expect.poll(() => way.status, SOON).toBe("idle")
    const message = (text: string) => ({ id: newMessageId("lake"), text })

    test("what is submitted to an idle session is a turn of its own, on the screen, and is answered", async () => {
      const at = await session()
      const way = await open(at)
      expect(way.status).toBe("idle")
      const sent = message("Which way is the lake?")
      await way.submit(sent)
      await at.shows("Which way is the lake?")
      await at.shows("Answer 1")
      await isIdle(way)
      expect(at.prompts()).toEqual([sent.text])
      await expect.poll(() => way.stateOf(sent.id, Date.now() - 60_000), SOON).toEqual({ kind: "completed" })
      expect(await way.stateOf(newMessageId("lake"), Date.now() - 60_000)).toEqual({ kind: "none" })
    })

    test("texts arrive exactly, whatever they look like, and in order", async () => {
      const at = await session()
      const way = await open(at)
      const texts = [
        "!touch it-ran",
        "/quit",
        "-x --message=y",
        "exit",
        "two\n\nlines \\",
        "湖 🚀 e\u0301 \u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u202eabc",
        "$(touch it-ran) `touch it-ran`; \t x",
        "\u001b[201~\u0003 after",
        `${"long ".repeat(40_000)}end`,
        "the tenth",
      ]
      for (const text of texts) await way.submit(message(text))
      await expect.poll(() => at.prompts().length, { ...SOON, timeout: 60_000 }).toBe(texts.length)
      expect(at.prompts()).toEqual(texts)
      await isIdle(way)
    })

    test("what comes while a turn runs waits for its end, is not mixed into it, and keeps its order", async () => {
      const at = await session()
      const way = await open(at)
      release = at.hold()
      const first = message("first")
      const changed = way.changed(15_000, AbortSignal.timeout(20_000))
      await way.submit(first)
      await expect.poll(() => way.status, SOON).toBe("busy")
      await changed
      const later = ["second", "third"].map(message)
      for (const one of later) await way.submit(one)
      await sleep(300)
      expect(at.prompts()).toEqual(["first"])
      const sinceMs = Date.now() - 60_000
      expect(await way.stateOf(first.id, sinceMs)).toEqual({ kind: "running" })
      for (const { id } of later) expect(await way.stateOf(id, sinceMs)).toEqual({ kind: "waiting" })
      release()
      await expect.poll(() => at.prompts(), SOON).toEqual(["first", "second", "third"])
      await isIdle(way)
    })

    test("a turn is ended, and what is submitted then comes next", async () => {
      const at = await session()
      const way = await open(at)
      release = at.hold()
      const long = message("a long task")
      await way.submit(long)
      await expect.poll(() => at.prompts(), SOON).toEqual([long.text])
      await way.submit(message("waits behind it"))
      await way.interrupt()
      await isIdle(way)
      await expect.poll(() => way.stateOf(long.id, Date.now() - 60_000), SOON).toEqual({ kind: "interrupted" })
      release()
      await way.submit(message("STOP and listen"))
      await expect.poll(() => at.prompts().slice(-2), SOON).toEqual(["STOP and listen", "waits behind it"])
      await isIdle(way)
      await way.interrupt()
      expect(way.status).toBe("idle")
    })

    test("another connection knows what was taken before it, also long after", async () => {
      const at = await session()
      const first = await open(at)
      const sent = message("said before the crash")
      const sinceMs = Date.now()
      await first.submit(sent)
      first.close()
      const way = await open(at)
      expect(await way.stateOf(sent.id, sinceMs)).not.toEqual({ kind: "none" })
      for (let number = 0; number < 3; number++) await way.submit(message(`later ${number}`))
      await expect.poll(() => at.prompts().length, SOON).toBe(4)
      expect(await way.stateOf(sent.id, sinceMs)).not.toEqual({ kind: "none" })
      await isIdle(way)
    })

    test("a session that is not there has no line", async () => {
      const { machine } = await session()
      const nativeId = "01234567-0123-7123-8123-0123456789ab"
      expect(await line.open(machine, { nativeId })).toBeUndefined()
    })
  })
}
