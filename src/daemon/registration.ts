import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import type { Home } from "./home.ts"

/** What a running daemon says of itself, for clients to find it. */
export interface Registration {
  id: string
  version: string
  pid: number
  processStart: string
  socket: string
  url?: string
  startedAt: string
}

/** A half-written or foreign file counts as none. */
export function readRegistration(home: Home): Registration | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(home.registration, "utf8"))
    return isRegistration(found) ? found : undefined
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

/** By hand, because every client reads one and most need no schema library otherwise. */
function isRegistration(found: unknown): found is Registration {
  const { pid, ...texts } = (found ?? {}) as Partial<Registration>
  const needed = [texts.id, texts.version, texts.processStart, texts.socket, texts.startedAt]
  return Number.isInteger(pid) && pid! > 0 && needed.every((text) => typeof text === "string")
}
