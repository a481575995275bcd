import type { ArchiveRules, Capture } from "../../domain/capture.ts"
import type { Project } from "../../domain/project.ts"
import type { NewSource } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import { type Clock, nextTurn, sleep } from "../../lib/clock.ts"
import { keepBatch } from "./keeper.ts"
import type { Kept, KnownSession } from "./known.ts"
import { placed } from "./placement.ts"

/** A part of a source, and the position after it. */
export interface Batch {
  captures: Capture[]
  source: NewSource
  /** Set on the last batch of a full reading: the source's other turns are gone from the platform. */
  seen?: ReadonlySet<string>
  /** The reader has redacted it already. */
  isRedacted?: true
  /** Set for an exchange logged through our own tool: the project's root. */
  loggedIn?: string
  /** The project that scopes its session ids; set by the archive. */
  scope?: { rootUri: string; by: "agent" | "repository" }
}

export type Archive = ReturnType<typeof makeArchive>

interface Waiting {
  batch: Batch
  resolve(kept: Kept): void
  reject(error: unknown): void
}

const MAX_KNOWN = 500
/** Limits of a transaction with several batches, and how long it waits for more. */
const GROUP_CAPTURES = 150
const GROUP_CHARS = 400_000
const GATHER_MS = 5

interface Deps {
  store: Store
  clock: Clock
  rules: ArchiveRules
  gatherMs?: number
}

export function makeArchive({ store, clock, rules, gatherMs = GATHER_MS }: Deps) {
  const known = new Map<string, KnownSession>()
  const waiting: Waiting[] = []
  let isWorking = false

  const keepAll = async (given: Batch[]) => {
    const batches = await Promise.all(
      given.map(async (batch) => placed(batch, (await rules.place?.(batch.source)) ?? { origin: "agent" })),
    )
    // Outside the transaction, because it reads folders and the embedded database has one connection.
    const projects = await projectsOf(batches, rules)
    if (known.size > MAX_KNOWN) known.clear()
    try {
      return await store.transaction(
        async (tx) => {
          const kept: Kept[] = []
          for (const batch of batches)
            kept.push(await keepBatch(tx, batch, { projects, known, rules, nowMs: clock.nowMs() }))
          return kept
        },
        // An exchange that an agent logged with us cannot be read again as its own word.
        { durability: batches.every(({ loggedIn }) => loggedIn === undefined) ? "relaxed" : "full" },
      )
    } catch (error) {
      // The cache may reflect rolled-back changes.
      known.clear()
      throw error
    }
  }
  const settle = async (group: Waiting[]): Promise<void> => {
    try {
      const kept = await keepAll(group.map(({ batch }) => batch))
      for (const [index, { resolve }] of group.entries()) resolve(kept[index]!)
    } catch (error) {
      if (group.length === 1) return group[0]!.reject(error)
      // A bad batch must not fail the others.
      for (const one of group) await settle([one])
    }
  }
  /** Sequential: the cache must not see another transaction's uncommitted changes. */
  const work = async () => {
    isWorking = true
    try {
      while (waiting.length > 0) {
        // A commit costs as much as storing many turns, so batches share one.
        if (gatherMs > 0 && !groupOf(waiting).isFull) await sleep(gatherMs)
        await settle(waiting.splice(0, groupOf(waiting).count))
        // The embedded database is synchronous: yield, so that others get a turn.
        await nextTurn()
      }
    } finally {
      isWorking = false
    }
  }

  return {
    /** Drops the cache of sessions. */
    reset: () => known.clear(),
    /** Stores sessions, turns, position and journal entries in one transaction. Idempotent. */
    keep: (batch: Batch) =>
      new Promise<Kept>((resolve, reject) => {
        waiting.push({ batch, resolve, reject })
        if (!isWorking) void work()
      }),
  }
}

/** How many waiting batches share a transaction: calls must not wait long behind it. */
function groupOf(waiting: readonly Waiting[]): { count: number; isFull: boolean } {
  let [captures, chars] = [0, 0]
  for (const [index, { batch }] of waiting.entries()) {
    captures += batch.captures.length
    for (const capture of batch.captures) if (capture.type === "turn") chars += capture.text.length
    if (captures > GROUP_CAPTURES || chars > GROUP_CHARS) return { count: Math.max(1, index), isFull: true }
  }
  return { count: waiting.length, isFull: captures === GROUP_CAPTURES }
}

async function projectsOf(batches: Batch[], rules: ArchiveRules): Promise<Map<string, Project | undefined>> {
  const found = new Map<string, Project | undefined>()
  for (const { captures } of batches) {
    for (const capture of captures) {
      const path = capture.type === "session" ? capture.projectPath : undefined
      if (path === undefined || found.has(path)) continue
      found.set(path, rules.excluded(path) ? undefined : await rules.projectOf(path))
    }
  }
  return found
}
