import { expect, test } from "vitest"
import { DRIVEN } from "../adapters/drivers/shared/processes.ts"
import { daemonEnvironment } from "./environment.ts"

test("a daemon that was started from within a driven agent does not bear that agent's mark", () => {
  const env = daemonEnvironment({ [DRIVEN]: "x", LANG: "C" })
  expect(env).toMatchObject({ LANG: "C", MALLOC_ARENA_MAX: "2" })
  expect(env).not.toHaveProperty(DRIVEN)
})
