import { IndexUnusable } from "../../domain/index-tables.ts"
import { nextTurn } from "../../lib/clock.ts"
import { flush } from "./flush.ts"
import type { IndexState } from "./index-state.ts"
import { Memtable } from "./memtable.ts"
import { drop, merge, plannedMerge } from "./merge.ts"
import { dropUnused } from "./purge.ts"

/** Documents after which a memtable is flushed, */
const MEMTABLE_DOCS = 512
/** or this many while another flush is running. */
const MAX_MEMTABLE_DOCS = 4_096

type Job = Generator<void, void>

/** Schedules flushes, merges and drops, batch by batch. */
export class Work {
  /** The journal number up to which everything is indexed. */
  position: number
  sizeBytes: number
  readonly #state: IndexState
  #durable: number
  #writing: Job | undefined
  #tidying: Job | undefined
  #isClosed = false

  constructor(state: IndexState, position: number) {
    this.#state = state
    this.sizeBytes = state.tables.sizeBytes()
    this.position = position
    this.#durable = position
    state.memtables = [new Memtable(position)]
  }

  get durablePosition(): number {
    return this.#durable
  }

  /** Takes the next document. */
  get memtable(): Memtable {
    return this.#state.memtables.at(-1)!
  }

  get isFull(): boolean {
    return this.memtable.docs.size >= MAX_MEMTABLE_DOCS
  }

  /** Another engine may own the tables once this one is closed. */
  assertOpen(): void {
    if (this.#isClosed) throw new IndexUnusable("gone", "the index was closed")
  }

  /** Idempotent; later changes are rejected. */
  close(): void {
    if (!this.#isClosed) this.#state.tables.close()
    this.#isClosed = true
  }

  reached(position: number): void {
    this.position = Math.max(this.position, position)
    this.memtable.position = this.position
    this.#freezeIfDue()
  }

  /** Back-pressure for writers that outpace the flushes. */
  makeRoom(): void {
    while (this.#hasToWrite()) this.#write()
    this.#freeze()
  }

  step(idle: boolean): boolean {
    this.assertOpen()
    const { tables } = this.#state
    tables.check()
    if (idle && !this.#hasToWrite() && this.#hasToSettle()) this.#settle()
    if (this.#hasToWrite()) this.#write()
    else this.#tidy()
    const hasMore = this.#hasToWrite() || this.#hasToTidy() || (idle && this.#hasToSettle())
    const isResting = idle && !hasMore
    const hasToGiveBack = tables.checkpoint(isResting)
    if (isResting) this.sizeBytes = tables.sizeBytes()
    return hasMore || hasToGiveBack
  }

  /** Flushes everything, rewrites segments with removed documents, then deletes unused words and sessions. */
  async purge(): Promise<void> {
    const { tables } = this.#state
    for (;;) {
      this.assertOpen()
      tables.check()
      if (this.memtable.docs.size > 0) this.#freeze()
      const wasted = this.#state.segments.find(({ docs }) => docs.removedCount > 0)
      if (this.#hasToWrite()) this.#write()
      else if (this.#tidying || this.#state.toDrop.length > 0) this.#tidy()
      else if (wasted) this.#tidying = merge(this.#state, [wasted])
      else break
      // Searches on the same thread come first.
      await nextTurn()
    }
    dropUnused(this.#state)
    tables.purge()
  }

  #freezeIfDue(): void {
    if (this.memtable.docs.size >= MEMTABLE_DOCS && !this.#hasToWrite()) this.#freeze()
  }

  #freeze(): void {
    this.#state.memtables = [...this.#state.memtables, new Memtable(this.position)]
  }

  #hasToWrite(): boolean {
    return this.#state.memtables.length > 1
  }

  #hasToSettle(): boolean {
    return this.memtable.docs.size > 0 || this.position > this.#durable
  }

  #settle(): void {
    if (this.memtable.docs.size > 0) this.#freeze()
    else {
      this.#state.tables.write({ meta: { position: String(this.position) } })
      this.#durable = this.position
    }
  }

  #write(): void {
    const [oldest] = this.#state.memtables
    this.#writing ??= flush(this.#state, oldest!)
    if (!this.#advance(this.#writing)) return
    this.#durable = oldest!.position
    this.#freezeIfDue()
    this.sizeBytes = this.#state.tables.sizeBytes()
  }

  #tidy(): void {
    if (!this.#tidying) {
      const [number] = this.#state.toDrop
      const planned = plannedMerge(this.#state.segments)
      if (number !== undefined) this.#tidying = drop(this.#state, number)
      else if (planned) this.#tidying = merge(this.#state, planned)
      else return
    }
    this.#advance(this.#tidying)
  }

  #hasToTidy(): boolean {
    return (
      this.#tidying !== undefined || this.#state.toDrop.length > 0 || plannedMerge(this.#state.segments) !== undefined
    )
  }

  /** True when the job is done. One that fails is started again: its last transaction was rolled back. */
  #advance(job: Job): boolean {
    let isOver = true
    try {
      isOver = job.next().done === true
      return isOver
    } finally {
      if (isOver && job === this.#writing) this.#writing = undefined
      else if (isOver) this.#tidying = undefined
    }
  }
}
