import type { SessionInstance } from "./presence.ts"

/**
 * Which sessions of one process stand beside each other, in terminals of their own. Where a process runs many, another one
 * in it does not mean that the first is left.
 */
export interface Company {
  /** Those that somebody sits at now, of processes that run many. */
  looked(instances: readonly SessionInstance[]): void
  /** Whether the other one came beside this one, and not in its place. */
  isBeside(instance: SessionInstance, other: SessionInstance): boolean
}

export function makeCompany(): Company {
  let attended = new Set<string>()
  /** Once both had a terminal, it is not known whose was closed: as long as it runs, the first one stays. */
  const pairs = new Set<string>()
  const nameOf = ({ pid, nativeId }: SessionInstance) => `${pid} ${nativeId}`
  const pairOf = (one: SessionInstance, other: SessionInstance) => `${nameOf(one)} ${nameOf(other)}`
  return {
    looked(instances) {
      attended = new Set(instances.map(nameOf))
      for (const one of instances) for (const other of instances) if (one !== other) pairs.add(pairOf(one, other))
    },
    isBeside: (instance, other) => attended.has(nameOf(instance)) || pairs.has(pairOf(instance, other)),
  }
}
