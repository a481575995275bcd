import type { SessionId } from "../domain/ids.ts"
import type { Presence } from "../domain/presence.ts"

/** A session and the process that runs it. */
export interface SessionInstance {
  sessionId: SessionId | null
  nativeId: string
  /** 0 if unknown: the agent only reports its session in a file. */
  pid: number
  processStart: string | null
}

/** An observation of a team's sessions. Nothing else decides which one is current. */
export type Evidence =
  /** The hook at the start of a session: startup, resume, clear, compact, fork. */
  | { kind: "began"; instance: SessionInstance; start: string; atMs: number }
  /** Any other hook. */
  | { kind: "heard"; instance: SessionInstance; atMs: number }
  | { kind: "ended"; nativeId: string; pid: number; reason: string; atMs: number }
  /** A scan of all running sessions. Steady ones were in the previous scan too. */
  | { kind: "looked"; live: readonly (SessionInstance & { isSteady: boolean })[]; atMs: number }
  /** A session other than the current one was given a message, or replied, and that is about to be reported. */
  | {
      kind: "active"
      instance: SessionInstance
      firstSeenMs: number
      live: readonly SessionInstance[]
      isGiven: boolean
      atMs: number
    }
  /** The file of an agent without hooks. */
  | { kind: "named"; id: string; sessionId: SessionId | null; writtenAtMs: number; atMs: number }

export interface PresenceNotice {
  type: "session_restart" | "session_started" | "session_ended"
  /** Idempotency key: the same event always has the same key. */
  key: string
  old: SessionInstance | null
  new: SessionInstance | null
  cause: string
  atMs: number
}

export interface Verdict {
  /** Absent if unchanged. */
  presence?: Presence
  notice?: PresenceNotice
}

/** Facts about the machine. */
export interface PresenceFacts {
  host: string
  isAlive(instance: SessionInstance): boolean
  /** Whether the other session runs beside this one in the same process, and does not replace it. */
  isBeside(instance: SessionInstance, other: SessionInstance): boolean
}

/** How long we wait for the session or a replacement before we report that it is gone. */
export const GRACE_MS = 6_000
export const KILLED = "killed"
const REGISTRY_LAG_MS = 3_000

/** Which session is current now, and whether that is worth a notice. A pure function. */
export function decide(
  before: Presence | undefined,
  evidence: Evidence,
  { team, host, isAlive, isBeside }: PresenceFacts & { team: string },
): Verdict {
  const presence = before?.nativeId == null ? undefined : { ...before, nativeId: before.nativeId }
  const { atMs } = evidence

  const taken = (instance: SessionInstance): Presence => ({
    ...toInstance(instance),
    team,
    host,
    sinceMs: atMs,
    goneAtMs: null,
    cause: null,
    isTold: false,
    isSupervised: before?.isSupervised ?? false,
  })
  const started = (instance: SessionInstance, cause: string): Verdict => {
    const next = taken(instance)
    return {
      presence: next,
      notice: {
        type: "session_started",
        key: keyOf("started", next),
        old: null,
        new: toInstance(instance),
        cause,
        atMs,
      },
    }
  }
  if (!presence) {
    const first = newcomerOf(evidence, isAlive)
    return first === undefined ? {} : started(first, beginningOf(evidence))
  }

  const isGone = presence.goneAtMs !== null
  const isGraceOver = presence.goneAtMs !== null && atMs - presence.goneAtMs >= GRACE_MS
  /** Its end was reported. */
  const isKnownEmpty = presence.isTold || (isGraceOver && presence.cause !== KILLED)
  const isHere = (instance: SessionInstance) => isSameProcess(instance, presence) && presence.host === host
  /** Processes of another host cannot be checked and count as running. */
  const isRunning = () => presence.host !== host || presence.pid === 0 || isAlive(presence)
  const leaves = (cause: string, next: SessionInstance | null): PresenceNotice => ({
    type: "session_restart",
    key: keyOf("restart", presence),
    old: toInstance(presence),
    new: next && toInstance(next),
    cause,
    atMs,
  })
  const succeeded = (instance: SessionInstance, cause: string): Verdict =>
    presence.isTold
      ? started(instance, beginningOf(evidence))
      : { presence: taken(instance), notice: leaves(cause, instance) }
  /** The same session in another process is no restart. It is reported only if its end was. */
  const resumed = (instance: SessionInstance): Verdict =>
    isKnownEmpty ? started(instance, "resume") : { presence: taken(instance) }

  switch (evidence.kind) {
    case "began": {
      const { instance, start } = evidence
      // A late hook of a process that had exited before the current one started.
      if (atMs < presence.sinceMs && !isAlive(instance)) return {}
      if (instance.nativeId === presence.nativeId) {
        if (isGone) return resumed(instance)
        return isHere(instance) || isRunning() ? {} : resumed(instance)
      }
      // Some agents compact into a session with another id and continue their work there.
      if (start === "compact" && isHere(instance)) return { presence: taken(instance) }
      if (isGone) return succeeded(instance, causeOf(presence, instance, start))
      if (isHere(instance)) return isBeside(presence, instance) ? {} : succeeded(instance, IN_PLACE[start] ?? start)
      if (presence.pid === 0) return instance.pid > 0 ? { presence: taken(instance) } : succeeded(instance, start)
      // Started in another pane: the current session is unaffected.
      return isRunning() ? {} : succeeded(instance, KILLED)
    }
    case "heard": {
      const { instance } = evidence
      if (!isAlive(instance)) return {}
      if (instance.nativeId === presence.nativeId) {
        if (isGone) return atMs > presence.goneAtMs! && !isHere(instance) ? resumed(instance) : {}
        return isHere(instance) || isRunning() ? {} : resumed(instance)
      }
      if (!isGone && presence.pid === 0 && instance.pid > 0) return { presence: taken(instance) }
      return presence.isTold || isGraceOver ? succeeded(instance, presence.cause ?? KILLED) : {}
    }
    case "ended": {
      const { nativeId, pid, reason } = evidence
      const isIts = nativeId === presence.nativeId && (pid === presence.pid || pid === 0 || presence.pid === 0)
      if (!isIts || isGone || atMs < presence.sinceMs) return {}
      return { presence: { ...presence, goneAtMs: atMs, cause: reason } }
    }
    case "looked": {
      const { live } = evidence
      const itself = live.find((instance) => instance.nativeId === presence.nativeId && !(isGone && isHere(instance)))
      const other = live.find((instance) => instance.nativeId !== presence.nativeId)
      if (!isGone) {
        // An observed session overrides one that only a file reports.
        if (presence.pid === 0 && (itself ?? other)) return { presence: taken((itself ?? other)!) }
        if (!isRunning()) return itself ? resumed(itself) : { presence: { ...presence, goneAtMs: atMs, cause: KILLED } }
        // With hooks, the hook reports this first, and the cause. This is for agents without them.
        const instead = live.find(
          (instance) =>
            isHere(instance) &&
            instance.nativeId !== presence.nativeId &&
            instance.isSteady &&
            !isBeside(presence, instance),
        )
        return instead && !itself ? succeeded(instead, "switched") : {}
      }
      if (itself) return resumed(itself)
      if (!isGraceOver && !presence.isTold) return {}
      if (other) return succeeded(other, presence.cause ?? KILLED)
      if (presence.isTold) return {}
      if (presence.cause === KILLED) return { presence: { ...presence, isTold: true }, notice: leaves(KILLED, null) }
      const notice = { ...leaves(presence.cause ?? "other", null), type: "session_ended" as const }
      return { notice: { ...notice, key: keyOf("ended", presence) } }
    }
    case "active": {
      const { instance, firstSeenMs, live, isGiven } = evidence
      // A fork's file has old replies before its hook arrives, but messages are delivered to it only after.
      if (isHere(instance) && !isGiven) return {}
      const isBack = live.some((other) => other.nativeId === presence.nativeId && !(isGone && isHere(other)))
      if (instance.nativeId === presence.nativeId || isBack || atMs < presence.sinceMs) return {}
      if (isGone || !isRunning()) return succeeded(instance, presence.cause ?? KILLED)
      // A registry that lags behind the hooks still lists the previous session.
      const isRegistryBehind = firstSeenMs <= presence.sinceMs && atMs - presence.sinceMs < REGISTRY_LAG_MS
      return isHere(instance) && !isRegistryBehind && !isBeside(presence, instance)
        ? succeeded(instance, "switched")
        : {}
    }
    case "named": {
      const instance = { sessionId: evidence.sessionId, nativeId: evidence.id, pid: 0, processStart: null }
      if (instance.nativeId === presence.nativeId) return {}
      if (presence.pid === 0) return succeeded(instance, "session file")
      // Agents with hooks may write such a file too, with another id: it is ignored while they run.
      const isNews = isGraceOver && evidence.writtenAtMs > presence.goneAtMs!
      return isNews ? succeeded(instance, presence.cause ?? KILLED) : {}
    }
  }
}

/** Causes by the agent's kind of start, for a replaced session. */
const IN_PLACE: Record<string, string> = { fork: "branch", startup: "new" }

function causeOf(presence: Presence, instance: SessionInstance, start: string): string {
  const isInPlace = isSameProcess(instance, presence)
  return isInPlace ? (IN_PLACE[start] ?? start) : (presence.cause ?? KILLED)
}

const beginningOf = (evidence: Evidence) => (evidence.kind === "began" ? evidence.start : "seen")

function newcomerOf(evidence: Evidence, isAlive: (instance: SessionInstance) => boolean): SessionInstance | undefined {
  switch (evidence.kind) {
    case "began":
      return evidence.instance
    case "heard":
    case "active":
      return isAlive(evidence.instance) ? evidence.instance : undefined
    case "looked":
      return evidence.live[0]
    case "named":
      return { sessionId: evidence.sessionId, nativeId: evidence.id, pid: 0, processStart: null }
    case "ended":
      return undefined
  }
}

/** An unknown start time matches any: the process had exited before it could be read. */
function isSameProcess(
  a: Pick<SessionInstance, "pid" | "processStart">,
  b: Pick<SessionInstance, "pid" | "processStart">,
): boolean {
  const isStartSame = a.processStart === null || b.processStart === null || a.processStart === b.processStart
  return a.pid > 0 && a.pid === b.pid && isStartSame
}

/** Drops all other fields. */
function toInstance({ sessionId, nativeId, pid, processStart }: SessionInstance): SessionInstance {
  return { sessionId, nativeId, pid, processStart }
}

const keyOf = (what: string, { team, nativeId, pid, processStart, sinceMs }: Presence) =>
  [what, team, nativeId, pid, processStart ?? "", sinceMs].join(":")
