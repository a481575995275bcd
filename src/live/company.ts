import type { Seat } from "./posts.ts"

/**
 * Which sessions of one process stand beside each other, in terminals of their own. Where a process runs many, another one
 * in it does not mean that the first is left.
 */
export interface Company {
  /** Those that somebody sits at now, of processes that run many. */
  looked(seats: readonly Seat[]): void
  /** Whether the other one came beside this one, and not in its place. */
  isBeside(seat: Seat, other: Seat): boolean
}

export function makeCompany(): Company {
  let attended = new Set<string>()
  /** Once both had a terminal, it is not known whose was closed: as long as it runs, the first one stays. */
  const pairs = new Set<string>()
  const nameOf = ({ pid, nativeId }: Seat) => `${pid} ${nativeId}`
  const pairOf = (one: Seat, other: Seat) => `${nameOf(one)} ${nameOf(other)}`
  return {
    looked(seats) {
      attended = new Set(seats.map(nameOf))
      for (const one of seats) for (const other of seats) if (one !== other) pairs.add(pairOf(one, other))
    },
    isBeside: (seat, other) => attended.has(nameOf(seat)) || pairs.has(pairOf(seat, other)),
  }
}
