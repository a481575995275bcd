import type { ArchiveRules, LineageKind } from "../../domain/capture.ts"
import { type HookEvent, hookPayload, isCutHook, type SentHook } from "../../domain/hook.ts"
import type { Project } from "../../domain/project.ts"
import type { Session } from "../../domain/session.ts"
import type { AgentSetup } from "../../domain/setup.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { defined } from "../../lib/defined.ts"
import { makeMutex } from "../../lib/mutex.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { makeSpool, sweepSpool } from "../read/spool.ts"
import type { Capturing } from "./capturing.ts"
import { createSession } from "./known.ts"

/** Stores agents' hooks under the sender's key, then acts on them. */
export type HookIntake = ReturnType<typeof makeIntake>

export interface HookSettings {
  agents: readonly Pick<AgentSetup, "platform" | "read" | "isUnattended">[]
  spoolDir: string
  /** This machine's name: panes and processes are local to it. */
  host: string
  onTrouble(error: unknown, what: string): void
  /** Called for spooled hooks, which got no answer. */
  onSpooled?(heard: KeptHook): void
}

interface Deps extends HookSettings {
  store: Store
  clock: Clock
  rules: Pick<ArchiveRules, "excluded" | "projectOf">
  capturing: Pick<Capturing, "nudge">
}

export interface KeptHook {
  sent: SentHook
  event: HookEvent
  project: Project | undefined
}

const POLL_MS = 1_000
const SWEEP_EVERY = 600
/** Hooks per commit: each commit waits for the disk. */
const BATCH = 50
/** Process and pane ids are reused: a session that ended earlier is not the one cleared now. */
const CLEARED_MS = 60_000

export function makeIntake(deps: Deps) {
  const { store, clock, rules, capturing, agents, spoolDir, onTrouble } = deps
  const spool = makeSpool(spoolDir)
  /** Sequential: hooks are stored in the order of arrival. */
  const inTurn = makeMutex()

  const mayKeep = async (platform: string, nativeId: string | undefined, cwd: string | undefined) => {
    if (cwd !== undefined && rules.excluded(cwd)) return false
    return nativeId === undefined || !(await store.forgetting.of(platform, nativeId)).whole
  }

  const hear = async (given: SentHook): Promise<KeptHook | undefined> => {
    // The sender's clock may be ahead; a future time would stay the newest.
    const sent = { ...given, atMs: Math.min(given.atMs, clock.nowMs()) }
    const agent = agents.find(({ platform }) => platform === sent.platform)
    if (!agent) return undefined
    const event = agent.read(hookPayload(sent), sent.env)
    if (!(await mayKeep(sent.platform, event.sessionId, event.cwd))) return undefined
    if (isCutHook(sent)) {
      event.details.cut = "true"
      onTrouble(new Error("a hook's payload was cut: it is longer than 16 MB"), `hook of ${sent.platform}`)
    }
    if (await agent.isUnattended?.(event)) event.details.unattended = "true"
    return { sent, event, project: event.cwd === undefined ? undefined : await rules.projectOf(event.cwd) }
  }

  const admit = async (all: SentHook[]): Promise<KeptHook[]> => {
    // Outside the transaction, because it reads folders and the embedded database has one connection.
    const heard: KeptHook[] = []
    for (const sent of all) {
      const one = await hear(sent)
      if (one) heard.push(one)
    }
    if (heard.length === 0) return heard
    await store.transaction(async (tx) => {
      for (const one of heard) await keep(tx, one, deps.host, clock)
    })
    for (const path of new Set(heard.flatMap(({ event }) => event.transcripts)))
      void capturing.nudge(path).catch((error: unknown) => onTrouble(error, path))
    return heard
  }

  const takeSpool = async () => {
    const names = await spool.names()
    for (let at = 0; at < names.length; at += BATCH) {
      const some = names.slice(at, at + BATCH)
      const read = await Promise.all(some.map((name) => spool.read(name)))
      const heard = await admit(read.filter((sent) => sent !== undefined))
      for (const one of heard) deps.onSpooled?.(one)
      // Only after the commit: until then the file is the only copy.
      for (const [index, name] of some.entries()) if (read[index]) await spool.remove(name)
    }
  }

  return {
    /** Resolves when the event and everything spooled before it is stored. */
    receive: (sent: SentHook) =>
      inTurn(async () => {
        await takeSpool()
        const [heard] = await admit([sent])
        return heard
      }),
    /** Registers a running session without turns; false if it must not be stored. */
    async meet({ platform, nativeId, cwd }: { platform: string; nativeId: string; cwd: string }) {
      if (!agents.some((agent) => agent.platform === platform) || !(await mayKeep(platform, nativeId, cwd)))
        return false
      const project = await rules.projectOf(cwd)
      await store.transaction(async (tx) => {
        const session = await ensure(tx, { platform, atMs: clock.nowMs() }, nativeId, clock)
        await place(tx, session, project, cwd)
      })
      return true
    },
    /** Processes the spool until aborted. */
    async run(signal: AbortSignal) {
      let rounds = 0
      await superviseLoop({
        name: "hook spool",
        signal,
        everyMs: POLL_MS,
        onTrouble: (error) => onTrouble(error, spoolDir),
        async round() {
          if (rounds++ % SWEEP_EVERY === 0) await sweepSpool(spoolDir, clock.nowMs()).catch(() => {})
          await inTurn(takeSpool)
        },
      })
    },
  }
}

async function keep(tx: Store, { sent, event, project }: KeptHook, host: string, clock: Clock): Promise<void> {
  const session = event.sessionId === undefined ? undefined : await ensure(tx, sent, event.sessionId, clock)
  const { name, transcripts, details, sessionId, parent: _, ...words } = event
  const written = await tx.journal.append([
    {
      kind: "hook.received",
      key: `hook:${sent.key}`,
      atMs: sent.atMs,
      sessionId: session?.id ?? null,
      projectId: project?.id ?? session?.projectId ?? null,
      data: {
        platform: sent.platform,
        event: name,
        ...defined({ session: sessionId, ...words, transcript: transcripts[0] }),
        ...details,
        env: sent.env,
      },
    },
  ])
  if (written === 0 || !session) return
  if (event.cwd !== undefined) await place(tx, session, project, event.cwd)
  const at = { host, pid: event.pid ?? 0, pane: paneOf(sent.env), atMs: sent.atMs }
  await recordOrigin(tx, { ...session, projectId: session.projectId ?? project?.id ?? null }, event, at)
  await tx.runs.seen({ sessionId: session.id, ...at, ...defined({ start: event.start, end: event.end }) })
}

async function place(tx: Store, session: Session, project: Project | undefined, cwd: string): Promise<void> {
  if (session.projectId === null && project)
    await tx.sessions.describe(session.id, { projectId: project.id, projectPath: cwd })
}

async function ensure(
  tx: Store,
  sent: Pick<SentHook, "platform" | "atMs">,
  nativeId: string,
  clock: Clock,
): Promise<Session> {
  const { platform, atMs } = sent
  const found = await tx.sessions.byNative(platform, nativeId)
  return found ?? createSession(tx, { platform, nativeId, createdAtMs: atMs }, clock.nowMs())
}

interface RunPlace {
  host: string
  pid: number
  pane: string | null
  atMs: number
}

/** Records an edge between two sessions; one resumed under its own id has none. */
async function recordOrigin(tx: Store, session: Session, event: HookEvent, place: RunPlace): Promise<void> {
  const parent = event.parent ?? (await origin(tx, session, event, place))
  if (!parent || parent.sessionId === session.nativeId) return
  const { kind, sessionId } = parent
  const edge = { kind, parentPlatform: session.platform, parentNativeId: sessionId, atMs: place.atMs }
  if (!(await tx.sessions.addEdge(session.id, edge))) return
  await tx.journal.append([
    { kind: "session.edge", sessionId: session.id, atMs: place.atMs, data: { edge: kind, parent: sessionId } },
  ])
}

const IN_PLACE: Record<string, LineageKind> = { clear: "clear", compact: "compact", fork: "fork" }

/** A new session id in the same process is derived from the process's previous session. */
async function origin(tx: Store, session: Session, event: HookEvent, place: RunPlace): Promise<HookEvent["parent"]> {
  const kind = event.start === undefined ? undefined : IN_PLACE[event.start]
  if (!kind) return undefined
  const before = await tx.runs.before({ platform: session.platform, nativeId: session.nativeId, ...place })
  if (!before || before.projectId !== session.projectId) return undefined
  const endedMs = before.endedAtMs === null ? 0 : place.atMs - before.endedAtMs
  const sameProcess = place.pid !== 0 && before.pid === place.pid && endedMs < CLEARED_MS
  // A pane outlives processes: there only a session cleared just now counts.
  const justCleared = kind === "clear" && before.end === "clear" && endedMs < CLEARED_MS
  return sameProcess || justCleared ? { sessionId: before.nativeId, kind } : undefined
}

/** Includes the tmux server's socket: two servers have the same pane numbers. */
function paneOf({ TMUX, TMUX_PANE }: Record<string, string>): string | null {
  return TMUX_PANE === undefined ? null : `${TMUX?.split(",")[0] ?? ""} ${TMUX_PANE}`
}
