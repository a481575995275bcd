import type { Vocabulary } from "./vocabulary.ts"

/**
 * The number of tokens after byte-pair merging: the neighbours of the lowest rank first. A heap finds
 * them, so that a megabyte without a space is not quadratic.
 */
export function countMerged(bytes: Uint8Array, vocabulary: Vocabulary): number {
  const size = bytes.length
  // Part i begins at byte i and ends where the next one begins; -1 where it was merged into the one before.
  const next = Int32Array.from({ length: size + 1 }, (_, at) => at + 1)
  const before = Int32Array.from({ length: size + 1 }, (_, at) => at - 1)
  const rankOf = new Int32Array(size).fill(-1)
  const heap = makeHeap()
  const rate = (at: number) => {
    const end = at < 0 || next[at]! >= size ? -1 : next[next[at]!]!
    const rank = end < 0 ? -1 : vocabulary.rank(bytes, at, end)
    if (at >= 0) rankOf[at] = rank
    if (rank >= 0) heap.push(rank, at)
  }
  for (let at = 0; at < size; at++) rate(at)
  let count = size
  for (let top = heap.pop(); top; top = heap.pop()) {
    const [rank, at] = top
    // Outdated: it was merged, or has another neighbour now.
    if (rankOf[at] !== rank) continue
    const gone = next[at]!
    next[at] = next[gone]!
    before[next[at]!] = at
    rankOf[gone] = -1
    count--
    rate(at)
    rate(before[at]!)
  }
  return count
}

/** Lowest rank first, then the leftmost. */
function makeHeap() {
  const ranks: number[] = []
  const places: number[] = []
  const isLess = (a: number, b: number) => ranks[a]! < ranks[b]! || (ranks[a] === ranks[b] && places[a]! < places[b]!)
  const swap = (a: number, b: number) => {
    ;[ranks[a], ranks[b]] = [ranks[b]!, ranks[a]!]
    ;[places[a], places[b]] = [places[b]!, places[a]!]
  }
  return {
    push(rank: number, place: number): void {
      let at = ranks.push(rank) - 1
      places.push(place)
      for (let parent = (at - 1) >> 1; at > 0 && isLess(at, parent); parent = (at - 1) >> 1) {
        swap(at, parent)
        at = parent
      }
    },
    pop(): [rank: number, place: number] | undefined {
      if (ranks.length === 0) return undefined
      const top: [number, number] = [ranks[0]!, places[0]!]
      swap(0, ranks.length - 1)
      ranks.pop()
      places.pop()
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2]
        let least = at
        if (left < ranks.length && isLess(left, least)) least = left
        if (right < ranks.length && isLess(right, least)) least = right
        if (least === at) return top
        swap(at, least)
        at = least
      }
    },
  }
}
