import type { SessionId } from "../domain/ids.ts"
import type { Post } from "../domain/post.ts"

/** A session and the process that has it. */
export interface Seat {
  sessionId: SessionId | null
  nativeId: string
  /** 0 where no process is known: an agent that only says its session's name in a file. */
  pid: number
  processStart: string | null
}

/** What was noticed of a team's sessions. Nothing else decides who is at its post. */
export type Evidence =
  /** A hook said that a session begins or goes on: startup, resume, clear, compact, fork. */
  | { kind: "began"; seat: Seat; start: string; atMs: number }
  /** Another hook of it. */
  | { kind: "heard"; seat: Seat; atMs: number }
  | { kind: "ended"; nativeId: string; pid: number; reason: string; atMs: number }
  /** A look at all that is live. Steady ones were there at the look before, too. */
  | { kind: "looked"; live: readonly (Seat & { isSteady: boolean })[]; atMs: number }
  /** A session that came after the one at the post was given a message, or replied, and that is about to be reported. */
  | { kind: "active"; seat: Seat; firstSeenMs: number; live: readonly Seat[]; isGiven: boolean; atMs: number }
  /** The file of an agent without hooks. */
  | { kind: "named"; id: string; sessionId: SessionId | null; writtenAtMs: number; atMs: number }

export interface PresenceNotice {
  type: "session_restart" | "session_started" | "session_ended"
  /** The same however often the same thing is noticed. */
  key: string
  old: Seat | null
  new: Seat | null
  cause: string
  atMs: number
}

export interface Verdict {
  /** Absent when it stays as it is. */
  post?: Post
  notice?: PresenceNotice
}

/** What is known of the machine beside the evidence. */
export interface PresenceFacts {
  host: string
  isAlive(seat: Seat): boolean
  /** Whether the other one came beside this one in the same process, and not in its place. */
  isBeside(seat: Seat, other: Seat): boolean
}

/** How long a successor, or the session itself, may take to come before it is said that nobody did. */
export const GRACE_MS = 6_000
export const KILLED = "killed"
const REGISTRY_LAG_MS = 3_000

/** Who is at the post now, and whether that is worth a notice. Depends on nothing but what it is given. */
export function decide(
  before: Post | undefined,
  evidence: Evidence,
  { team, host, isAlive, isBeside }: PresenceFacts & { team: string },
): Verdict {
  const post = before?.nativeId == null ? undefined : { ...before, nativeId: before.nativeId }
  const { atMs } = evidence

  const taken = (seat: Seat): Post => ({
    ...seatOf(seat),
    team,
    host,
    sinceMs: atMs,
    goneAtMs: null,
    cause: null,
    isTold: false,
    isKept: before?.isKept ?? false,
  })
  const started = (seat: Seat, cause: string): Verdict => {
    const next = taken(seat)
    return {
      post: next,
      notice: { type: "session_started", key: keyOf("started", next), old: null, new: seatOf(seat), cause, atMs },
    }
  }
  if (!post) {
    const first = newcomerOf(evidence, isAlive)
    return first === undefined ? {} : started(first, beginningOf(evidence))
  }

  const isGone = post.goneAtMs !== null
  const isGraceOver = post.goneAtMs !== null && atMs - post.goneAtMs >= GRACE_MS
  /** It was said that nobody is there. */
  const isKnownEmpty = post.isTold || (isGraceOver && post.cause !== KILLED)
  const isHere = (seat: Seat) => isSameProcess(seat, post) && post.host === host
  /** Processes of another host cannot be looked at: they are believed. */
  const isRunning = () => post.host !== host || post.pid === 0 || isAlive(post)
  const leaves = (cause: string, next: Seat | null): PresenceNotice => ({
    type: "session_restart",
    key: keyOf("restart", post),
    old: seatOf(post),
    new: next && seatOf(next),
    cause,
    atMs,
  })
  const succeeded = (seat: Seat, cause: string): Verdict =>
    post.isTold ? started(seat, beginningOf(evidence)) : { post: taken(seat), notice: leaves(cause, seat) }
  /** The same session in another process: no restart, and news only to those who were told that it is gone. */
  const resumed = (seat: Seat): Verdict => (isKnownEmpty ? started(seat, "resume") : { post: taken(seat) })

  switch (evidence.kind) {
    case "began": {
      const { seat, start } = evidence
      // Told late, of a process that was gone before this one came.
      if (atMs < post.sinceMs && !isAlive(seat)) return {}
      if (seat.nativeId === post.nativeId) {
        if (isGone) return resumed(seat)
        return isHere(seat) || isRunning() ? {} : resumed(seat)
      }
      // An agent that compacts into a session of another name goes on with its work.
      if (start === "compact" && isHere(seat)) return { post: taken(seat) }
      if (isGone) return succeeded(seat, causeOf(post, seat, start))
      if (isHere(seat)) return isBeside(post, seat) ? {} : succeeded(seat, IN_PLACE[start] ?? start)
      if (post.pid === 0) return seat.pid > 0 ? { post: taken(seat) } : succeeded(seat, start)
      // Beside the one that is there, in another pane: nothing has happened to that one.
      return isRunning() ? {} : succeeded(seat, KILLED)
    }
    case "heard": {
      const { seat } = evidence
      if (!isAlive(seat)) return {}
      if (seat.nativeId === post.nativeId) {
        if (isGone) return atMs > post.goneAtMs! && !isHere(seat) ? resumed(seat) : {}
        return isHere(seat) || isRunning() ? {} : resumed(seat)
      }
      if (!isGone && post.pid === 0 && seat.pid > 0) return { post: taken(seat) }
      return post.isTold || isGraceOver ? succeeded(seat, post.cause ?? KILLED) : {}
    }
    case "ended": {
      const { nativeId, pid, reason } = evidence
      const isIts = nativeId === post.nativeId && (pid === post.pid || pid === 0 || post.pid === 0)
      if (!isIts || isGone || atMs < post.sinceMs) return {}
      return { post: { ...post, goneAtMs: atMs, cause: reason } }
    }
    case "looked": {
      const { live } = evidence
      const itself = live.find((seat) => seat.nativeId === post.nativeId && !(isGone && isHere(seat)))
      const other = live.find((seat) => seat.nativeId !== post.nativeId)
      if (!isGone) {
        // What a file says counts for nothing beside a session that is seen.
        if (post.pid === 0 && (itself ?? other)) return { post: taken((itself ?? other)!) }
        if (!isRunning()) return itself ? resumed(itself) : { post: { ...post, goneAtMs: atMs, cause: KILLED } }
        // The hook says it first, and says why; this is for agents whose hooks are not installed.
        const instead = live.find(
          (seat) => isHere(seat) && seat.nativeId !== post.nativeId && seat.isSteady && !isBeside(post, seat),
        )
        return instead && !itself ? succeeded(instead, "switched") : {}
      }
      if (itself) return resumed(itself)
      if (!isGraceOver && !post.isTold) return {}
      if (other) return succeeded(other, post.cause ?? KILLED)
      if (post.isTold) return {}
      if (post.cause === KILLED) return { post: { ...post, isTold: true }, notice: leaves(KILLED, null) }
      const notice = { ...leaves(post.cause ?? "other", null), type: "session_ended" as const }
      return { notice: { ...notice, key: keyOf("ended", post) } }
    }
    case "active": {
      const { seat, firstSeenMs, live, isGiven } = evidence
      // A branch's file has old replies in it before the hook says what happened; a message goes to it only afterwards.
      if (isHere(seat) && !isGiven) return {}
      const isBack = live.some((other) => other.nativeId === post.nativeId && !(isGone && isHere(other)))
      if (seat.nativeId === post.nativeId || isBack || atMs < post.sinceMs) return {}
      if (isGone || !isRunning()) return succeeded(seat, post.cause ?? KILLED)
      // A registry that is behind the hooks still names the session before.
      const isRegistryBehind = firstSeenMs <= post.sinceMs && atMs - post.sinceMs < REGISTRY_LAG_MS
      return isHere(seat) && !isRegistryBehind && !isBeside(post, seat) ? succeeded(seat, "switched") : {}
    }
    case "named": {
      const seat = { sessionId: evidence.sessionId, nativeId: evidence.id, pid: 0, processStart: null }
      if (seat.nativeId === post.nativeId) return {}
      if (post.pid === 0) return succeeded(seat, "session file")
      // Agents with hooks may write such a file as well, under another name: theirs is not asked while they are there.
      const isNews = isGraceOver && evidence.writtenAtMs > post.goneAtMs!
      return isNews ? succeeded(seat, post.cause ?? KILLED) : {}
    }
  }
}

/** What the agent's own word for a beginning means for the one that was there. */
const IN_PLACE: Record<string, string> = { fork: "branch", startup: "new" }

function causeOf(post: Post, seat: Seat, start: string): string {
  const isInPlace = isSameProcess(seat, post)
  return isInPlace ? (IN_PLACE[start] ?? start) : (post.cause ?? KILLED)
}

const beginningOf = (evidence: Evidence) => (evidence.kind === "began" ? evidence.start : "seen")

function newcomerOf(evidence: Evidence, isAlive: (seat: Seat) => boolean): Seat | undefined {
  switch (evidence.kind) {
    case "began":
      return evidence.seat
    case "heard":
    case "active":
      return isAlive(evidence.seat) ? evidence.seat : undefined
    case "looked":
      return evidence.live[0]
    case "named":
      return { sessionId: evidence.sessionId, nativeId: evidence.id, pid: 0, processStart: null }
    case "ended":
      return undefined
  }
}

/** A start that is not known agrees with any: the process was gone before it could be looked at. */
function isSameProcess(a: Pick<Seat, "pid" | "processStart">, b: Pick<Seat, "pid" | "processStart">): boolean {
  const isStartSame = a.processStart === null || b.processStart === null || a.processStart === b.processStart
  return a.pid > 0 && a.pid === b.pid && isStartSame
}

/** Without what else the one that has it knows. */
function seatOf({ sessionId, nativeId, pid, processStart }: Seat): Seat {
  return { sessionId, nativeId, pid, processStart }
}

const keyOf = (what: string, { team, nativeId, pid, processStart, sinceMs }: Post) =>
  [what, team, nativeId, pid, processStart ?? "", sinceMs].join(":")
