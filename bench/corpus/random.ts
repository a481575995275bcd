/** The same numbers each time: a corpus is known by its seed. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number below `limit`. */
  below(limit: number): number
  pick<T>(list: readonly T[]): T
  chance(probability: number): boolean
  /** Around the median, with a long tail towards the big. */
  size(median: number, spread?: number): number
  hex(length: number): string
  uuid(): string
}

export function makeRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const hex = (length: number) => {
    let text = ""
    while (text.length < length)
      text += below(2 ** 32)
        .toString(16)
        .padStart(8, "0")
    return text.slice(0, length)
  }
  return {
    next,
    below,
    pick: (list) => list[below(list.length)]!,
    chance: (probability) => next() < probability,
    size(median, spread = 1) {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
      return Math.max(1, Math.round(median * Math.exp(normal * spread)))
    },
    hex,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  }
}
