import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import { isThought, refOfThought, refOfTurn } from "../query/refs.ts"
import type { Vectors } from "../vectors/vectors.ts"
import type { Engine } from "./engine.ts"

/** After something was forgotten: purges from the index and the vectors what the archive no longer has. */
export async function reconcile(store: Store, engine: Engine, vectors: Vectors | undefined): Promise<void> {
  const gone: number[] = []
  const staleVectors = new Set<number>()
  const embedded = vectors?.bySession() ?? new Map<string, number[]>()
  const indexed = new Map(Array.from(engine.sessions(), ({ sessionId, refs }) => [sessionId, refs]))
  // An index that was rebuilt since does not know what its vectors still have.
  for (const sessionId of new Set([...indexed.keys(), ...embedded.keys()])) {
    const stored = await refsOf(store, sessionId as SessionId)
    for (const ref of indexed.get(sessionId) ?? []) if (!stored.has(ref)) gone.push(ref)
    for (const exchange of embedded.get(sessionId) ?? [])
      if (!stored.has(refOfTurn(exchange))) staleVectors.add(exchange)
  }
  // Exchanges that lost a part get a new vector.
  for (const ref of gone) if (!isThought(ref)) staleVectors.add(engine.info(ref)!.exchange)
  if (vectors && staleVectors.size > 0) {
    vectors.remove([...staleVectors])
    vectors.purge()
  }
  if (gone.length === 0) return
  engine.remove(gone)
  await engine.purge()
}

async function refsOf(store: Store, sessionId: SessionId): Promise<Set<number>> {
  const [turns, thoughts] = await Promise.all([store.turns.seqs(sessionId), store.thoughts.seqs(sessionId)])
  return new Set([...turns.map(refOfTurn), ...thoughts.map(refOfThought)])
}
