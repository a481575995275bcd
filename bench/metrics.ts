/** The share of what is wanted that is among the first k. */
export function recallAt(found: readonly number[], wanted: ReadonlySet<number>, k: number): number {
  return found.slice(0, k).filter((id) => wanted.has(id)).length / wanted.size
}

/** 1 when all that is wanted comes first; less the later it comes. */
export function ndcgAt(found: readonly number[], wanted: ReadonlySet<number>, k: number): number {
  const gain = (rank: number) => 1 / Math.log2(rank + 2)
  let [sum, best] = [0, 0]
  for (const [rank, id] of found.slice(0, k).entries()) if (wanted.has(id)) sum += gain(rank)
  for (let rank = 0; rank < Math.min(k, wanted.size); rank++) best += gain(rank)
  return sum / best
}

export interface Answered {
  /** In the order in which they were found, each once. */
  found: number[]
  wanted: ReadonlySet<number>
}

export type Quality = { n: number; ndcg10: number } & Record<`r${number}`, number>

/** In per cent, averaged over the questions. */
export function qualityOf(answers: readonly Answered[], ks: readonly number[]): Quality {
  const mean = (of: (answer: Answered) => number) =>
    Number(((100 * answers.reduce((sum, answer) => sum + of(answer), 0)) / answers.length).toFixed(1))
  const quality: Quality = { n: answers.length, ndcg10: mean(({ found, wanted }) => ndcgAt(found, wanted, 10)) }
  for (const k of ks) quality[`r${k}`] = mean(({ found, wanted }) => recallAt(found, wanted, k))
  return quality
}
