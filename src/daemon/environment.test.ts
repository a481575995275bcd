import { expect, test } from "vitest"
import { DRIVEN } from "../adapters/drivers/shared/processes.ts"
import { daemonEnvironment, PAIR, readEnvironment } from "./environment.ts"

test("a daemon that was started from within a driven agent does not bear that agent's mark", () => {
  const env = daemonEnvironment({ [DRIVEN]: "x", [PAIR]: "p-1", LANG: "C" })
  expect(env).toMatchObject({ LANG: "C", MALLOC_ARENA_MAX: "2" })
  expect(env).not.toHaveProperty(DRIVEN)
  expect(env).not.toHaveProperty(PAIR)
})

test("whose agent it is stands in the environment beside the settings, and is none of them", () => {
  const { agent, settings } = readEnvironment({ [PAIR]: "p-1", THROUGHLINE_LOG_LEVEL: "debug" })
  expect(agent.pair).toBe("p-1")
  expect(settings).toEqual({ THROUGHLINE_LOG_LEVEL: "debug" })
})
