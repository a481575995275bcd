import type { SessionId } from "./ids.ts"
import type { PaneAddress } from "./panes.ts"

/** Where a session can be reached: the process that has it, and the pane that the process runs in. */
export interface Route {
  sessionId: SessionId
  platform: string
  nativeId: string
  host: string
  pid: number
  processStart: string
  pane: PaneAddress | null
  seenAtMs: number
}
