import { vi } from "vitest"

const LIMIT_MS = 30_000
const PATIENT = Symbol.for("throughline.patient")

// Vitest has a setting for the limit of expect.poll, and none for vi.waitFor, which gives up after a second.
const marked = vi as typeof vi & { [PATIENT]?: true }
if (!marked[PATIENT]) {
  marked[PATIENT] = true
  const waitFor = vi.waitFor.bind(vi)
  vi.waitFor = (callback, options) => waitFor(callback, options ?? { timeout: LIMIT_MS })
}
