/** Turns and thoughts are numbered apart; documents have one number space for both. */
export const refOfTurn = (seq: number) => seq * 2
export const refOfThought = (seq: number) => seq * 2 + 1
export const seqOf = (ref: number) => Math.floor(ref / 2)
export const isThought = (ref: number) => ref % 2 === 1
