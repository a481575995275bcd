/** Top-k heap, the worst on top. */
export class Best {
  /** Lower scores need not be offered. */
  worst = Number.NEGATIVE_INFINITY
  size = 0
  readonly #scores: Int32Array
  readonly #numbers: Float64Array

  constructor(count: number) {
    this.#scores = new Int32Array(count)
    this.#numbers = new Float64Array(count)
  }

  offer(number: number, score: number): void {
    if (this.size < this.#scores.length) this.#up(this.size++, number, score)
    else this.#down(number, score)
    if (this.size === this.#scores.length) this.worst = this.#scores[0]!
  }

  /** Unordered. */
  numbers(): number[] {
    return Array.from(this.#numbers.subarray(0, this.size))
  }

  #up(from: number, number: number, score: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#scores[parent]! <= score) break
      this.#move(parent, at)
      at = parent
    }
    this.#put(at, number, score)
  }

  #down(number: number, score: number): void {
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child + 1 < this.size && this.#scores[child + 1]! < this.#scores[child]!) child++
      if (child >= this.size || this.#scores[child]! >= score) break
      this.#move(child, at)
      at = child
    }
    this.#put(at, number, score)
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#numbers[from]!, this.#scores[from]!)
  }

  #put(at: number, number: number, score: number): void {
    this.#numbers[at] = number
    this.#scores[at] = score
  }
}
