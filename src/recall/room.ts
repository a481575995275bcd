import type { Follower } from "../domain/journal.ts"
import type { Store } from "../domain/store.ts"
import { indexer } from "./indexer.ts"
import { searchThoughts, type ThoughtHit } from "./search.ts"

export interface RecallRoom {
  indexer: Follower
  thoughts(wish: Parameters<typeof searchThoughts>[1]): Promise<ThoughtHit[]>
}

export function makeRecall({ store }: { store: Store }): RecallRoom {
  return { indexer, thoughts: (wish) => searchThoughts(store, wish) }
}
