/** Turns and thoughts have separate sequences; documents share one: even for turns, odd for thoughts. */
export const refOfTurn = (seq: number) => seq * 2
export const refOfThought = (seq: number) => seq * 2 + 1
export const seqOf = (ref: number) => Math.floor(ref / 2)
export const isThought = (ref: number) => ref % 2 === 1
