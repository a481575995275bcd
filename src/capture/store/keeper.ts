import {
  type ArchiveRules,
  type RewindCapture,
  type SessionCapture,
  TITLE_SOURCES,
  type TurnCapture,
} from "../../domain/capture.ts"
import { type SessionId, withoutScope } from "../../domain/ids.ts"
import type { Project } from "../../domain/project.ts"
import { inStrings, redactInside } from "../../domain/redact.ts"
import type { NewTurn, Store } from "../../domain/store.ts"
import { oneLine } from "../../domain/text.ts"
import { defined } from "../../lib/defined.ts"
import { cutText } from "../read/cut.ts"
import type { Batch } from "./archive.ts"
import { createSession, EXCLUDED, type Kept, type KnownSession, NOTHING_KEPT, seenKey, seqsOf } from "./known.ts"
import { makeLineage } from "./lineage.ts"
import { forgottenOf, withoutLogged } from "./placement.ts"

interface Deps {
  /** By folder. */
  projects: ReadonlyMap<string, Project | undefined>
  /** The cache, by platform and native id. */
  known: Map<string, KnownSession>
  rules: ArchiveRules
  nowMs: number
}

/** Stores one batch inside its transaction. */
export async function keepBatch(tx: Store, batch: Batch, { projects, known, rules, nowMs }: Deps): Promise<Kept> {
  const { platform } = batch.source
  const lineage = makeLineage(tx, platform, nowMs)
  let pending: NewTurn[] = []
  /** Sessions of the batch that may have rewound turns. */
  const rewound = new Set<SessionId>()
  let [turnCount, leftOut] = [0, 0]
  // An adapter's memory may quote turns.
  const memory = inStrings(batch.source.memory, (text) => (batch.isRedacted ? text : rules.redact(text, null)))
  const source = { ...batch.source, memory }
  const sourceId = await tx.sources.save(source)
  for (const capture of await withoutLogged(tx, batch)) {
    if (capture.type === "session") await describe(capture)
    else if (capture.type === "turn") await addTurn(capture)
    else if (capture.type === "rewind") await rewind(capture)
  }
  await flush()
  // Not for scoped ids: a repository could claim to be the original of another project's session.
  if (batch.scope === undefined) await lineage.link()
  if (batch.seen) await supersedeUnseen(batch.seen)
  if (leftOut > 0) {
    const skipped = { ...source.skipped, [EXCLUDED]: (source.skipped[EXCLUDED] ?? 0) + leftOut }
    await tx.sources.save({ ...source, skipped })
  }
  return { turns: turnCount, leftOut }

  async function sessionOf(nativeId: string, atMs?: number, path?: string): Promise<KnownSession> {
    const key = `${platform} ${nativeId}`
    const cached = known.get(key)
    if (cached) return cached
    const forgotten = await forgottenOf(tx, batch, nativeId)
    if (forgotten.whole) return leaveOut(nativeId, { byFolder: false })
    const found = await tx.sessions.byNative(platform, nativeId)
    // An earlier reading excluded the session's folder, or the session would exist.
    if (!found && path === undefined && (batch.source.skipped[EXCLUDED] ?? 0) > 0)
      return leaveOut(nativeId, { byFolder: true })
    const createdAtMs = notLater(atMs ?? firstTime(nativeId))
    const about = { platform, nativeId, createdAtMs, ...defined({ origin: batch.source.origin }) }
    const session = found ?? (await createSession(tx, about, nowMs))
    // Not by its turn count, which excludes rewound turns.
    const isOld = found !== undefined
    const { origin = "agent" } = batch.source
    if (origin === "repository" && session.origin !== origin) await tx.origins.mark(session.id, origin)
    const fresh = {
      id: session.id,
      hasReal: isOld && (await tx.turns.hasReal(session.id)),
      hasFallbacks: isOld,
      hasRewound: isOld,
      projectPath: session.projectPath,
      excluded: false,
      byFolder: false,
      lastAtMs: session.updatedAtMs,
      described: "",
      isForgotten: forgotten.turn,
    }
    known.set(key, fresh)
    return fresh
  }

  /** For a session that does not state its start. */
  function firstTime(nativeId: string): number {
    for (const capture of batch.captures)
      if (capture.type === "turn" && capture.sessionId === nativeId && capture.atMs !== undefined) return capture.atMs
    return batch.source.mtimeMs
  }

  /** Clamps future times: such a session would stay the newest for years. */
  function notLater(atMs: number): number {
    return Number.isNaN(atMs) ? nowMs : Math.max(0, Math.min(Math.trunc(atMs), nowMs))
  }

  function isLater(atMs: number | undefined): boolean {
    return atMs !== undefined && !(atMs <= nowMs)
  }

  /** Caches a session that must not be stored. */
  function leaveOut(nativeId: string, why: { byFolder: boolean }): KnownSession {
    const none = { ...NOTHING_KEPT, ...why }
    known.set(`${platform} ${nativeId}`, none)
    return none
  }

  /** With excluded folders, a capture without a folder has to wait for the one that names it. */
  async function mustWait({ type: _, sessionId, ...facts }: SessionCapture): Promise<boolean> {
    if (!rules.excludesSome || (await tx.sessions.byNative(platform, sessionId))) return false
    const isAlone = !batch.captures.some((other) => other.type === "turn" && other.sessionId === sessionId)
    if (!isAlone && Object.keys(facts).length === 0) throw new Error("the folder of its session is not known yet")
    return isAlone
  }

  async function describe(capture: SessionCapture): Promise<void> {
    const first = capture.projectPath
    const before = known.get(`${platform} ${capture.sessionId}`)
    if (first !== undefined && !before?.projectPath && rules.excluded(first)) {
      leaveOut(capture.sessionId, { byFolder: true })
      leftOut++
      return
    }
    if (first === undefined && !before && (await mustWait(capture))) return
    const session = await sessionOf(capture.sessionId, capture.startedAtMs, first)
    const described = JSON.stringify(capture)
    if (session.excluded || session.described === described) return
    session.described = described
    // Agents change folders; the session stays with the project in which it started.
    const path = session.projectPath === null ? first : undefined
    if (path !== undefined) session.projectPath = path
    const project = path === undefined ? undefined : projects.get(path)
    const { title, model, gitBranch, agentVersion, startedAtMs, parent } = capture
    // A future time was clamped at creation; clamping again would move it at each reading.
    const isOwnTime = startedAtMs !== undefined && !isLater(startedAtMs)
    const facts = defined({
      projectId: project?.id,
      projectPath: path,
      title: title && {
        text: oneLine(redact(title.text, session)),
        rank: TITLE_SOURCES.indexOf(title.from) + 1,
        firstStands: title.from === "prompt",
      },
      model: model && oneLine(model),
      gitBranch: gitBranch && oneLine(rules.redact(gitBranch, session.projectPath)),
      agentVersion: agentVersion && oneLine(agentVersion),
      startedAtMs: isOwnTime ? notLater(startedAtMs) : undefined,
      isSubagent: parent?.kind === "subagent" || undefined,
    })
    await tx.sessions.describe(session.id, facts)
    if (parent) await lineage.parent(session.id, parent, notLater(startedAtMs ?? nowMs))
  }

  async function addTurn(capture: TurnCapture): Promise<void> {
    const session = await sessionOf(capture.sessionId, capture.atMs)
    if (session.byFolder) leftOut++
    if (session.excluded || session.isForgotten(capture.nativeId)) return
    if (capture.fallback && session.hasReal) return
    if (!capture.fallback && session.hasFallbacks && !session.hasReal) await replaceFallbacks(session)
    if (capture.fallback) session.hasFallbacks = true
    else session.hasReal = true
    const atMs = notLater(capture.atMs ?? Math.max(session.lastAtMs, 0))
    session.lastAtMs = atMs
    if (session.hasRewound) rewound.add(session.id)
    pending.push({
      sessionId: session.id,
      nativeId: capture.nativeId,
      kind: capture.kind,
      text: cutText(redact(capture.text, session)),
      atMs,
      // A clamped time is not the turn's own: it keeps the first value when read again.
      isTimeLent: capture.atMs === undefined || isLater(capture.atMs),
      model: capture.model ?? null,
      toolName: capture.toolName ?? null,
      toolCallId: capture.toolCallId ?? null,
      isError: capture.isError ?? false,
      isFallback: capture.fallback ?? false,
      usage: capture.usage ?? null,
      ...defined({ metadata: capture.metadata && redactInside(capture.metadata, (text) => redact(text, session)) }),
      sourceId,
    })
  }

  function redact(text: string, { projectPath }: KnownSession): string {
    return batch.isRedacted ? text : rules.redact(text, projectPath)
  }

  async function replaceFallbacks(session: KnownSession): Promise<void> {
    await flush()
    await note("turns.dropped", session.id, await tx.turns.dropFallbacks(session.id))
    await tx.turns.recount([session.id])
    session.hasFallbacks = false
  }

  async function rewind({ sessionId, fromNativeId: nativeId, after, atMs }: RewindCapture): Promise<void> {
    const beforeMs = atMs === undefined ? undefined : notLater(atMs)
    await flush()
    const session = await sessionOf(sessionId)
    if (session.excluded) return
    session.hasRewound = true
    const seqs = await tx.turns.supersedeFrom(session.id, { nativeId, after, beforeMs }, nowMs)
    await note("turns.superseded", session.id, seqs)
    await tx.turns.recount([session.id])
  }

  async function flush(): Promise<void> {
    const taken = pending
    pending = []
    const put = await tx.turns.put(taken)
    lineage.grew(taken)
    if (put.length === 0) return
    turnCount += put.length
    for (const [sessionId, turns] of Map.groupBy(put, (turn) => turn.sessionId)) {
      const fresh = turns.filter((turn) => turn.inserted)
      await tx.sessions.grow(sessionId, {
        turns: fresh.length,
        prompts: fresh.filter(({ kind }) => kind === "prompt").length,
        lastAtMs: Math.max(...turns.map(({ atMs }) => atMs)),
      })
      const mayReturn = fresh.length < turns.length && rewound.has(sessionId)
      if (mayReturn) await tx.turns.recount([sessionId])
      // Existing turns that changed or are live again.
      const changed = turns.filter((turn) => !turn.inserted)
      await note("turns.kept", sessionId, seqsOf(turns), changed.length > 0 ? { changed: seqsOf(changed) } : {})
    }
  }

  /** Consumers see turns through these entries only, so every change needs one. */
  async function note(
    kind: `turns.${"kept" | "superseded" | "dropped"}`,
    sessionId: SessionId,
    seqs: number[],
    more: { changed?: number[] } = {},
  ) {
    if (seqs.length === 0) return
    await tx.journal.append([{ kind, sessionId, atMs: nowMs, data: { seqs, ...more } }])
  }

  async function supersedeUnseen(seen: ReadonlySet<string>): Promise<void> {
    const live = await tx.turns.liveOfSource(sourceId)
    const natives = new Map([...known].map(([key, { id }]) => [id, key.slice(key.indexOf(" ") + 1)]))
    const gone: typeof live = []
    for (const turn of live) {
      const native = natives.get(turn.sessionId) ?? (await tx.sessions.byId(turn.sessionId))?.nativeId
      const stated = native !== undefined && batch.scope ? withoutScope(native) : native
      if (stated !== undefined && !seen.has(seenKey(stated, turn.nativeId))) gone.push(turn)
    }
    if (gone.length === 0) return
    await tx.turns.supersede(seqsOf(gone), nowMs)
    const sessions = Map.groupBy(gone, ({ sessionId }) => sessionId)
    for (const session of known.values()) session.hasRewound ||= sessions.has(session.id)
    await tx.turns.recount([...sessions.keys()])
    for (const [sessionId, turns] of sessions) await note("turns.superseded", sessionId, seqsOf(turns))
  }
}
