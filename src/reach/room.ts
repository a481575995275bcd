import type { AgentConsole } from "../domain/agent-console.ts"
import type { AgentLine } from "../domain/agent-line.ts"
import type { Caller } from "../domain/caller.ts"
import type { Clock } from "../domain/clock.ts"
import type { Delivery } from "../domain/delivery.ts"
import type { HookEvent, SentHook } from "../domain/hook.ts"
import { newKey } from "../domain/ids.ts"
import type { Follower } from "../domain/journal.ts"
import { messageOf, type Sender } from "../domain/message.ts"
import type { Panes } from "../domain/panes.ts"
import type { Machine } from "../domain/platform.ts"
import type { Store } from "../domain/store.ts"
import type { Roster, Team } from "../domain/team.ts"
import { makeCourier } from "./courier/courier.ts"
import { makeDesk } from "./courier/desk.ts"
import { makeEvidence } from "./courier/evidence.ts"
import { makeHandOver } from "./courier/hand-over.ts"
import { makeLadder } from "./courier/ladder.ts"
import { makeOpenTurns } from "./courier/open-turns.ts"
import { makeParking } from "./courier/parking.ts"
import { makePaster } from "./courier/paste.ts"
import { makeProgress } from "./courier/progress.ts"
import { makeRecovery } from "./courier/recovery.ts"
import { makeTurnContext } from "./courier/turn.ts"
import { makeWaiters, type WaitAnswer } from "./courier/waiters.ts"
import { type MessageSettings, type Messages, makeMessages } from "./messages/messages.ts"
import { makePulling, type PulledMail } from "./messages/pulling.ts"
import { senderOf } from "./messages/sender.ts"
import type { LiveSessions } from "./watching/live.ts"
import { isUnder } from "./watching/routes.ts"

/** Reach's own door: messages for agents that run somewhere, and how they get there. */
export interface ReachRoom {
  messages: Messages
  senderOf(caller: Caller): Sender
  /** Mail that the team's own agent fetches. */
  pull(team: Team, caller: Caller): Promise<PulledMail[]>
  /** What a turn that is about to end is told, so that it goes on. */
  turnContext(sent: SentHook, event: HookEvent): Promise<string | undefined>
  /** A hook waits in the background of its agent. */
  wait(sent: SentHook, event: HookEvent, signal: AbortSignal): Promise<WaitAnswer>
  /** Sends those that wait to the daemon that comes next. */
  endWaiting(): void
  followers: Follower[]
  run(signal: AbortSignal): Promise<void>
}

export interface ReachDeps {
  store: Store
  clock: Clock
  roster: Roster
  live: LiveSessions
  panes: Panes
  consoles: readonly AgentConsole[]
  lines: readonly AgentLine[]
  machine: Machine
  settings: MessageSettings
  host: string
  /** Names the home: whoever held leases under it before is dead. */
  home: string
  processStart(pid: number): string | undefined
  parentOf(pid: number): number | undefined
  /** Whether hooks have left something that was not taken yet. */
  hasSpooled(): Promise<boolean>
  onTrouble(error: unknown, what: string): void
}

export function makeReach(deps: ReachDeps): ReachRoom {
  const { clock, roster, host, home, processStart, parentOf } = deps
  const isAgentUnder = (pid: number, panePid: number) => isUnder(pid, panePid, parentOf)
  const ownerPrefix = `courier ${host} ${home} `
  const desk = makeDesk({ ...deps, ownerPrefix, owner: ownerPrefix + newKey() })
  const parking = makeParking()
  const turns = makeOpenTurns()
  const inTurn = makeTurns((delivery: Delivery) => {
    const { team } = messageOf(delivery)
    // Two teams of one project have the same sessions.
    return roster.byName(team)?.projectDir ?? team
  })
  const waiters = makeWaiters({ processStart, onWaiting: () => nudgeAll() })
  const paster = makePaster(deps)
  const ladder = makeLadder({ ...deps, turns, waiters })
  const handOver = makeHandOver({ ...deps, desk, paster, waiters, isUnder: isAgentUnder })
  const recovery = makeRecovery({ ...deps, desk, paster, inTurn, isUnder: isAgentUnder })
  const courier = makeCourier({
    ...deps,
    desk,
    ladder,
    parking,
    recovery,
    handOver,
    inTurn,
    progress: makeProgress(deps),
  })
  const nudgeAll = () => {
    for (const { name } of roster.list()) courier.nudge(name)
  }
  const onActivity = (cwd: string) => {
    for (const { name } of roster.at(cwd)) courier.nudge(name)
  }
  return {
    messages: makeMessages({ ...deps, onQueued: courier.nudge }),
    senderOf: (caller) => senderOf(caller, roster),
    pull: makePulling({ ...deps, desk }),
    turnContext: makeTurnContext({ ...deps, desk, parking, courier }),
    async wait({ platform, env }, { sessionId, pid }, signal) {
      if (sessionId === undefined) return { kind: "over" }
      return waiters.wait({ platform, nativeId: sessionId, pid: pid ?? (Number(env.PPID) || undefined) }, signal)
    },
    endWaiting: waiters.close,
    followers: [makeEvidence({ ...deps, clock, turns, onActivity })],
    run: (signal) => courier.run(signal),
  }
}

/** One after another for each key, side by side for different ones. */
function makeTurns<Of>(keyOf: (of: Of) => string) {
  const last = new Map<string, Promise<unknown>>()
  return <T>(of: Of, act: () => Promise<T>): Promise<T> => {
    const key = keyOf(of)
    const done = (last.get(key) ?? Promise.resolve()).then(act)
    const kept: Promise<unknown> = done.catch(() => {}).finally(() => last.get(key) === kept && last.delete(key))
    last.set(key, kept)
    return done
  }
}
