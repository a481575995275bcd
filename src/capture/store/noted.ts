/** Journal entries about turns. */
export type TurnEntry = "turns.kept" | "turns.superseded" | "turns.dropped"

export const seqsOf = (turns: readonly { seq: number }[]) => turns.map(({ seq }) => seq)
