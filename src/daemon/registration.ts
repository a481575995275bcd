import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import * as z from "zod"
import type { Home } from "./home.ts"

/** What a running daemon says of itself, for clients to find it. */
const Registration = z.object({
  id: z.string(),
  version: z.string(),
  pid: z.int().positive(),
  processStart: z.string(),
  socket: z.string(),
  url: z.string().optional(),
  startedAt: z.string(),
})
export type Registration = z.output<typeof Registration>

/** A half-written or foreign file counts as none. */
export function readRegistration(home: Home): Registration | undefined {
  try {
    return Registration.parse(JSON.parse(readFileSync(home.registration, "utf8")))
  } catch {
    return undefined
  }
}

export function writeRegistration(home: Home, registration: Registration): void {
  const draft = `${home.registration}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(registration, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, home.registration)
}

export function removeRegistration(home: Home, id: string): void {
  if (readRegistration(home)?.id === id) rmSync(home.registration, { force: true })
}
