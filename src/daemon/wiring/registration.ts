import { rmSync } from "node:fs"
import { readText } from "../../lib/untrusted-file.ts"
import { replaceFile } from "../../lib/untrusted-write.ts"
import { type Home, isSocketOurs } from "../process/home.ts"

/** How clients find the running daemon. */
export interface Registration {
  id: string
  version: string
  pid: number
  processStart: string
  socket: string
  url?: string
  startedAt: string
}

/** Ignores a half-written or foreign file, or one that points to another user's socket. */
export function readRegistration(home: Home): Registration | undefined {
  try {
    const found: unknown = JSON.parse(readText(home.registration, { ours: "alone" }))
    return isRegistration(found) && isSocketOurs(home, found.socket) ? found : undefined
  } catch {
    return undefined
  }
}

export function writeRegistration(home: Home, registration: Registration): void {
  replaceFile(home.registration, `${JSON.stringify(registration, null, 2)}\n`)
}

export function removeRegistration(home: Home, id: string): void {
  if (readRegistration(home)?.id === id) rmSync(home.registration, { force: true })
}

/** Checked by hand: every client reads it, and most need no schema library. */
function isRegistration(found: unknown): found is Registration {
  const { pid, ...texts } = (found ?? {}) as Partial<Registration>
  const needed = [texts.id, texts.version, texts.processStart, texts.socket, texts.startedAt]
  return Number.isInteger(pid) && pid! > 0 && needed.every((text) => typeof text === "string")
}
