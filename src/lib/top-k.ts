/** The best `limit` of all items offered: a heap with the worst on top. */
export class TopK<T> {
  readonly #limit: number
  readonly #isWorse: (a: T, b: T) => boolean
  readonly #heap: T[] = []

  constructor(limit: number, isWorse: (a: T, b: T) => boolean) {
    this.#limit = limit
    this.#isWorse = isWorse
  }

  offer(item: T): void {
    if (this.#heap.length < this.#limit) this.#rise(this.#heap.length, item)
    else if (this.#isWorse(this.#heap[0]!, item)) this.#sink(item)
  }

  /** The item that the next better one replaces; undefined while there is room. */
  get worst(): T | undefined {
    return this.#heap.length < this.#limit ? undefined : this.#heap[0]
  }

  /** Unordered. */
  items(): readonly T[] {
    return this.#heap
  }

  #rise(from: number, item: T): void {
    const heap = this.#heap
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isWorse(item, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = item
  }

  #sink(item: T): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child + 1 < heap.length && this.#isWorse(heap[child + 1]!, heap[child]!)) child++
      if (child >= heap.length || !this.#isWorse(heap[child]!, item)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = item
  }
}
