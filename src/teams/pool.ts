import { Failure } from "../domain/failure.ts"
import type { Pair } from "../domain/pair.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Team } from "../domain/team.ts"
import { type Clock, within } from "../lib/clock.ts"
import type { Opened } from "./pairs.ts"

/** The processes of pairs' sessions: at most one for each pair, limited in number and in idle time. */
export interface Pool {
  /** The pair's process for one use, started if needed. `later` if the limit is reached and all are busy. */
  take(pair: Pair, team: Team, options?: { isCopy?: boolean }): Promise<Use | Later>
  /** Ends the pair's process. False if there is none. A busy one is ended only with `force`. */
  sleep(pairId: string, options?: { force?: boolean }): Promise<boolean>
  processOf(pairId: string): ProcessState | undefined
  list(): ProcessState[]
  /** Ends processes that idle for too long or whose team was removed. */
  sweep(): Promise<void>
  /** Measures memory, and drops processes that have died. */
  measure(): Promise<void>
  /** Ends idle processes that do not answer a ping. A busy one is never ended for silence. */
  examine(): Promise<void>
  close(): Promise<void>
}

export interface Use extends Opened {
  /** Started for this use. */
  isStarted: boolean
  /** Call once the preface was sent. */
  prefaced(): void
  release(): void
}

export interface Later {
  later: Reason
  ms: number
}

export interface ProcessState {
  pairId: string
  team: string
  pid: number | null
  state: "starting" | "idle" | "busy" | "closing"
  startedAtMs: number
  lastUsedAtMs: number
  /** The last measurement. */
  memoryBytes: number | null
}

export interface PoolDeps {
  clock: Clock
  settings: { maxProcesses: number; idleTimeout: number }
  teamOf(name: string): Team | undefined
  isAlive(pid: number): boolean
  /** Whether sessions of the platform share one process. */
  isShared(platform: string): boolean
  open(pair: Pair, team: Team, options: { isCopy?: boolean }): Promise<Opened | { laterMs: number }>
  /** A process became free. */
  onFree(): void
  onTrouble(error: unknown, what: string): void
}

interface Entry extends ProcessState {
  platform: string
  /** The team's settings at the start, as JSON: changed settings need another process. */
  startedAs: string
  opened: Opened | undefined
  /** When it last gave a sign of life. */
  heardAtMs: number
}

const FULL_MS = 1_000
/** Time limit for an answer to a ping. */
const PING_MS = 5_000
/** A process heard this recently is not pinged. */
const HEARD_MS = 2_000

export function makePool({ clock, settings, teamOf, isAlive, isShared, open, onFree, onTrouble }: PoolDeps): Pool {
  const entries = new Map<string, Entry>()

  const drop = (entry: Entry) => {
    if (entries.get(entry.pairId) === entry) entries.delete(entry.pairId)
    onFree()
  }
  const close = async (entry: Entry, options: { isHanging?: boolean } = {}) => {
    entry.state = "closing"
    await entry.opened?.session.close(options).catch((error: unknown) => onTrouble(error, entry.pairId))
    drop(entry)
  }
  const answers = async (entry: Entry): Promise<boolean> => {
    const { session } = entry.opened ?? {}
    if (!session?.ping || clock.nowMs() - entry.heardAtMs < HEARD_MS) return true
    // An error is an answer too.
    const pong = session.ping().then(
      () => true,
      () => true,
    )
    const isThere = (await within(PING_MS, pong)) ?? false
    if (isThere) entry.heardAtMs = clock.nowMs()
    else onTrouble(undefined, `${entry.pairId}: the process ${entry.pid} hangs and is replaced`)
    return isThere
  }
  const running = () => [...entries.values()].filter(({ state }) => state !== "closing")
  /** Sessions that share a process count as one. */
  const count = (of: readonly Entry[]) =>
    new Set(of.map(({ platform, pairId }) => (isShared(platform) ? platform : pairId))).size

  /** The least recently used idle process whose end makes room. */
  const leastUsed = (): Entry | undefined => {
    const all = running()
    const idle = all.filter(({ state }) => state === "idle").sort((a, b) => a.lastUsedAtMs - b.lastUsedAtMs)
    return idle.find((entry) => count(all.filter((other) => other !== entry)) < count(all))
  }

  const start = async (entry: Entry, pair: Pair, team: Team, options: { isCopy?: boolean }): Promise<Use | Later> => {
    try {
      const opened = await open(pair, team, options)
      if ("laterMs" in opened) {
        drop(entry)
        return { later: because("cannot_resume_yet"), ms: opened.laterMs }
      }
      if (entries.get(entry.pairId) !== entry) {
        await opened.session.close()
        throw new Failure("agent_busy", "its process was ended while it started")
      }
      entry.opened = opened
      entry.pid = opened.session.pid
      entry.state = "idle"
      entry.heardAtMs = clock.nowMs()
      void opened.session.gone.then(() => drop(entry))
      return use(entry, true)
    } catch (error) {
      drop(entry)
      throw error
    }
  }

  const use = (entry: Entry, isStarted: boolean): Use => {
    entry.state = "busy"
    const opened = entry.opened!
    return {
      ...opened,
      isStarted,
      prefaced() {
        entry.opened = { ...opened, preface: null, isContextNew: false }
      },
      release() {
        entry.lastUsedAtMs = clock.nowMs()
        entry.heardAtMs = clock.nowMs()
        if (entry.state === "busy") entry.state = "idle"
        onFree()
      },
    }
  }

  const take = async (pair: Pair, team: Team, options: { isCopy?: boolean } = {}): Promise<Use | Later> => {
    const known = entries.get(pair.id)
    if (known && known.state !== "idle") return { later: because("process_busy"), ms: FULL_MS }
    if (known) {
      const isFit = known.startedAs === JSON.stringify(team) && !options.isCopy
      // Reserves it during the ping.
      known.state = "busy"
      const isThere = await answers(known)
      if (isFit && isThere && entries.get(pair.id) === known) return use(known, false)
      await close(known, { isHanging: !isThere })
      return take(pair, team, options)
    }
    const entry: Entry = {
      ...{ pairId: pair.id, team: team.name, platform: team.platform, startedAs: JSON.stringify(team) },
      ...{ pid: null, state: "starting", memoryBytes: null, opened: undefined },
      ...{ startedAtMs: clock.nowMs(), lastUsedAtMs: clock.nowMs(), heardAtMs: clock.nowMs() },
    }
    const isFull = count([...running(), entry]) > settings.maxProcesses
    const leaving = isFull ? leastUsed() : undefined
    if (isFull && !leaving) return { later: because("pool_full", String(settings.maxProcesses)), ms: FULL_MS }
    entries.set(pair.id, entry)
    if (leaving) await close(leaving)
    return start(entry, pair, team, options)
  }

  return {
    take,
    async sleep(pairId, { force = false } = {}) {
      const entry = entries.get(pairId)
      if (!entry || entry.state === "closing") return false
      if (entry.state !== "idle" && !force)
        throw new Failure("agent_busy", `the process of this pair is ${entry.state}; force ends it all the same`)
      await close(entry)
      return true
    },
    processOf: (pairId) => entries.get(pairId),
    list: () =>
      [...entries.values()].map(
        ({ opened: _, startedAs: __, platform: ___, heardAtMs: ____, ...state }): ProcessState => ({ ...state }),
      ),
    async sweep() {
      const isOver = ({ state, team, lastUsedAtMs }: Entry) => {
        if (state !== "idle") return false
        const known = teamOf(team)
        return !known || clock.nowMs() - lastUsedAtMs >= (known.idleTimeoutMs ?? settings.idleTimeout)
      }
      await Promise.all([...entries.values()].filter(isOver).map((entry) => close(entry)))
    },
    async measure() {
      for (const entry of entries.values()) {
        entry.memoryBytes = (await entry.opened?.session.memoryBytes()) ?? null
        // Its exit event was missed: its work is lost.
        if (entry.pid !== null && entry.state !== "closing" && !isAlive(entry.pid)) await close(entry)
      }
    },
    async examine() {
      await Promise.all(
        [...entries.values()].map(async (entry) => {
          if (entry.state !== "idle" || (await answers(entry))) return
          if (entry.state === "idle") await close(entry, { isHanging: true })
        }),
      )
    },
    close: async () => void (await Promise.all([...entries.values()].map((entry) => close(entry)))),
  }
}
