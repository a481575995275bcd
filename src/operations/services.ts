import type { HandoffRoom } from "../recall/handoff/room.ts"
import type { RecallRoom } from "../recall/room.ts"
import type { CaptureRoom } from "../sessions/capture/room.ts"
import type { SessionsRoom } from "../sessions/room.ts"

/** What operations run on; the daemon builds it once. */
export interface Services {
  sessions: SessionsRoom
  capture: CaptureRoom
  recall: RecallRoom
  handoff: HandoffRoom
  system: SystemService
}

export interface SystemService {
  status(): Promise<SystemStatus>
}

export interface SystemStatus {
  id: string
  version: string
  pid: number
  startedAt: string
  home: string
  socket: string
  http: { url?: string; trouble?: string }
  memoryMb: number
  store: {
    kind: string
    place: string
    version: string
    sizeBytes: number
    sessions: number
    thoughts: number
    journal: number
  }
  followers: { name: string; lag: number }[]
  notices: string[]
}
