import type { LineageKind, SessionCapture } from "../../domain/capture.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { NewTurn, Store } from "../../domain/store.ts"

/** Derives which session came from which. */
export function makeLineage(tx: Store, platform: string, nowMs: number) {
  const copies = new Map<SessionId, { atMs: number }>()
  const turnsOf = new Map<SessionId, string[]>()

  const addEdge = async (
    id: SessionId,
    parentNativeId: string,
    kind: LineageKind,
    atMs: number,
    parentPlatform = platform,
  ) => {
    const edge = { kind, parentPlatform, parentNativeId, atMs }
    if (!(await tx.sessions.addEdge(id, edge))) return
    const data = { edge: kind, parent: parentNativeId }
    await tx.journal.append([{ kind: "session.edge", sessionId: id, atMs: nowMs, data }])
  }
  const adopt = async (id: SessionId, parentNativeId: string, atMs: number) => {
    await addEdge(id, parentNativeId, "fork", atMs)
    await tx.sessions.dropOrphan(id, platform)
  }
  const othersWith = async (id: SessionId, nativeTurnId: string | undefined) => {
    if (nativeTurnId === undefined) return []
    return (await tx.turns.holders(platform, nativeTurnId)).filter((holder) => holder.id !== id)
  }
  /** Copied turns come first: binary search for the last turn that others have too. */
  const originalsOf = async (id: SessionId, turns: string[]) => {
    let found = await othersWith(id, turns[0])
    let [low, high] = [0, turns.length]
    while (found.length > 0 && high - low > 1) {
      const middle = (low + high) >> 1
      const holders = await othersWith(id, turns[middle])
      if (holders.length === 0) high = middle
      else [low, found] = [middle, holders]
    }
    return found
  }
  const linkCopy = async (id: SessionId, atMs: number) => {
    const turns = turnsOf.get(id) ?? []
    const found = await originalsOf(id, turns)
    const natives = new Set(found.map(({ nativeId }) => nativeId))
    for (const { id: other, nativeId } of found) {
      // Of several holders, pick one that is not itself a copy of another.
      const edges = await tx.sessions.edges(other)
      if (!edges.some(({ kind, parentNativeId }) => kind === "fork" && natives.has(parentNativeId)))
        return adopt(id, nativeId, atMs)
    }
    if (turns[0] !== undefined) await tx.sessions.addOrphan(id, { platform, nativeTurnId: turns[0], atMs })
  }

  return {
    async parent(
      id: SessionId,
      { sessionId, kind, platform: from }: NonNullable<SessionCapture["parent"]>,
      atMs: number,
    ) {
      if (sessionId === null) copies.set(id, { atMs })
      else await addEdge(id, sessionId, kind, atMs, from)
    },
    /** Notes stored turns. */
    grew(turns: readonly Pick<NewTurn, "sessionId" | "nativeId">[]) {
      for (const [id, grown] of Map.groupBy(turns, ({ sessionId }) => sessionId))
        turnsOf.set(id, [...(turnsOf.get(id) ?? []), ...grown.map(({ nativeId }) => nativeId)])
    },
    /** Finds the originals of copies: of the batch, and of copies that were read before their original. */
    async link() {
      for (const [id, { atMs }] of copies) await linkCopy(id, atMs)
      if (turnsOf.size === 0) return
      const orphans = await tx.sessions.orphans(platform)
      for (const orphan of orphans) {
        for (const id of turnsOf.keys()) {
          if (orphans.some((other) => other.id === id)) continue
          if (!(await tx.turns.byNative(id, orphan.nativeTurnId))) continue
          const original = await tx.sessions.byId(id)
          await adopt(orphan.id, original!.nativeId, nowMs)
        }
      }
    },
  }
}
