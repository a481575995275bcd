import { IndexUnusable } from "../../domain/index-tables.ts"
import { makeMutex } from "../../lib/mutex.ts"
import { flush } from "./flush.ts"
import type { IndexState } from "./index-state.ts"
import { Memtable } from "./memtable.ts"
import { drop, merge, plannedMerge } from "./merge.ts"

/** Documents after which a memtable is flushed, */
const MEMTABLE_DOCS = 512
/** or this many while another flush is running. */
const MAX_MEMTABLE_DOCS = 4_096

type Job = AsyncGenerator<void, void>

/** Schedules flushes, merges and drops, batch by batch. */
export class Work {
  /** The journal number up to which everything is indexed. */
  position: number
  sizeBytes: number
  readonly #state: IndexState
  #durable: number
  #writing: Job | undefined
  #tidying: Job | undefined
  readonly #inTurn = makeMutex()
  #isUncertain = false
  #isClosed = false

  constructor(state: IndexState, position: number, sizeBytes: number) {
    this.#state = state
    this.sizeBytes = sizeBytes
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

  /** Serialises changes of the tables and the state. */
  alone<T>(change: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      // Another engine may own the tables by now.
      if (this.#isClosed) throw new IndexUnusable("gone", "the index was closed")
      return change()
    })
  }

  /** Idempotent; later changes are rejected. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isClosed) return
      this.#isClosed = true
      await this.#state.tables.close()
    })
  }

  reached(position: number): void {
    this.position = Math.max(this.position, position)
    this.memtable.position = this.position
    this.#freezeIfDue()
  }

  /** Back-pressure for writers that outpace the flushes. */
  async makeRoom(): Promise<void> {
    while (this.#state.memtables.length > 1) await this.#write()
    this.#freeze()
  }

  async step(idle: boolean): Promise<boolean> {
    await this.#state.tables.check()
    if (this.#isUncertain) await this.#reconcile()
    if (idle && this.#state.memtables.length === 1 && this.#hasToSettle()) await this.#settle()
    if (this.#state.memtables.length > 1) await this.#write()
    else await this.#tidy()
    const hasMore = this.#state.memtables.length > 1 || this.#hasToTidy() || (idle && this.#hasToSettle())
    const isResting = idle && !hasMore
    const hasToGiveBack = await this.#state.tables.checkpoint(isResting)
    if (isResting) this.sizeBytes = await this.#state.tables.sizeBytes()
    return hasMore || hasToGiveBack
  }

  /** Flushes everything and completes a running merge. */
  async finish(): Promise<void> {
    await this.#state.tables.check()
    if (this.#isUncertain) await this.#reconcile()
    if (this.#state.memtables.length === 1) this.#freeze()
    while (this.#state.memtables.length > 1) await this.#write()
    if (this.memtable.docs.size > 0) this.#freeze()
    while (this.#state.memtables.length > 1) await this.#write()
    while (this.#tidying) await this.#tidy()
  }

  #freezeIfDue(): void {
    if (this.memtable.docs.size >= MEMTABLE_DOCS && this.#state.memtables.length === 1) this.#freeze()
  }

  #freeze(): void {
    this.#state.memtables = [...this.#state.memtables, new Memtable(this.position)]
  }

  #hasToSettle(): boolean {
    return this.memtable.docs.size > 0 || this.position > this.#durable
  }

  async #settle(): Promise<void> {
    if (this.memtable.docs.size > 0) return this.#freeze()
    await this.#state.tables.write({ meta: { position: String(this.position) } })
    this.#durable = this.position
  }

  async #write(): Promise<void> {
    const [oldest] = this.#state.memtables
    this.#writing ??= flush(this.#state, oldest!)
    if (!(await this.#advance(this.#writing))) return
    this.#writing = undefined
    this.#durable = oldest!.position
    this.#freezeIfDue()
    this.sizeBytes = await this.#state.tables.sizeBytes()
  }

  async #tidy(): Promise<void> {
    if (!this.#tidying) {
      const [number] = this.#state.toDrop
      const planned = plannedMerge(this.#state.segments)
      if (number !== undefined) this.#tidying = this.#drop(number)
      else if (planned) this.#tidying = merge(this.#state, planned)
      else return
    }
    if (await this.#advance(this.#tidying)) this.#tidying = undefined
  }

  async *#drop(number: number): Job {
    yield* drop(this.#state.tables, number)
    this.#state.toDrop = this.#state.toDrop.filter((other) => other !== number)
  }

  #hasToTidy(): boolean {
    return (
      this.#tidying !== undefined || this.#state.toDrop.length > 0 || plannedMerge(this.#state.segments) !== undefined
    )
  }

  /** True when the job is done. One that fails is started again. */
  async #advance(job: Job): Promise<boolean> {
    try {
      return (await job.next()).done === true
    } catch (error) {
      if (job === this.#writing) this.#writing = undefined
      else this.#tidying = undefined
      // The transaction may have been committed all the same.
      this.#isUncertain = !(error instanceof IndexUnusable)
      throw error
    }
  }

  /** Makes the tables match the memory, whether or not the last transaction was committed. */
  async #reconcile(): Promise<void> {
    const { tables, segments } = this.#state
    this.#state.forgetWords()
    this.#state.nextTerm = Number((await tables.meta()).terms) + 1
    const listed = new Set((await tables.segments()).map(({ segment }) => segment))
    const unlisted = segments.filter(({ number }) => !listed.delete(number))
    await this.#state.commit(unlisted, { retired: [...listed], meta: { position: String(this.#durable) } })
    this.#isUncertain = false
  }
}
