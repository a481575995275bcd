import type { SessionId } from "./ids.ts"
import type { Origin } from "./origin.ts"

/** Which sources are inside of repositories, and which folders a person vouches for. */
export interface Origins {
  trusted(): Promise<{ path: string; atMs: number }[]>
  trust(path: string, atMs: number): Promise<void>
  /** False when it was not trusted. */
  distrust(path: string): Promise<boolean>
  /** Those that are not an agent's own records, and with null those that were read before origins were kept. */
  sources(): Promise<{ id: number; platform: string; path: string; origin: Origin | null }[]>
  place(sourceIds: readonly number[], origin: Origin): Promise<void>
  sessionsOf(sourceId: number): Promise<{ id: SessionId; nativeId: string; origin: Origin }[]>
  /** With a native id, the session is known by that one from now on. */
  mark(id: SessionId, origin: Origin, nativeId?: string): Promise<void>
  /** A session is vouched for when all of its sources are. */
  settle(): Promise<void>
}
