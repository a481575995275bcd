import { rmSync } from "node:fs"
import { readText } from "../../lib/untrusted-file.ts"
import { replaceFile } from "../../lib/untrusted-write.ts"
import { type Home, isSocketOurs } from "../process/home.ts"

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

/** A half-written or foreign file counts as none, and so does one that sends us to another user's socket. */
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

/** By hand, because every client reads one and most need no schema library otherwise. */
function isRegistration(found: unknown): found is Registration {
  const { pid, ...texts } = (found ?? {}) as Partial<Registration>
  const needed = [texts.id, texts.version, texts.processStart, texts.socket, texts.startedAt]
  return Number.isInteger(pid) && pid! > 0 && needed.every((text) => typeof text === "string")
}
