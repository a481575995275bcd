import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import { isThought, refOfThought, refOfTurn } from "../query/refs.ts"
import type { Vectors } from "../vectors/vectors.ts"
import type { Engine } from "./engine.ts"

/** After something was forgotten: what the archive no longer has leaves the index too, and its files. */
export async function reconcile(store: Store, engine: Engine, vectors: Vectors | undefined): Promise<void> {
  const gone: number[] = []
  for (const { sessionId, refs } of engine.sessions()) {
    const kept = await refsOf(store, sessionId as SessionId)
    for (const ref of refs) if (!kept.has(ref)) gone.push(ref)
  }
  if (gone.length === 0) return
  // Also those of which something is left: their vectors are made anew.
  const exchanges = new Set(gone.filter((ref) => !isThought(ref)).map((ref) => engine.info(ref)!.exchange))
  await vectors?.remove([...exchanges])
  await vectors?.purge()
  await engine.remove(gone)
  await engine.purge()
}

async function refsOf(store: Store, sessionId: SessionId): Promise<Set<number>> {
  const [turns, thoughts] = await Promise.all([store.turns.seqs(sessionId), store.thoughts.seqs(sessionId)])
  return new Set([...turns.map(refOfTurn), ...thoughts.map(refOfThought)])
}
