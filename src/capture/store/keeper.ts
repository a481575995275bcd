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
import type { Clock } from "../../lib/clock.ts"
import { defined } from "../../lib/defined.ts"
import { cutText } from "../read/cut.ts"
import type { Batch } from "./archive.ts"
import {
  createSession,
  EXCLUDED,
  type Kept,
  type KnownSession,
  NOTHING_KEPT,
  nativeIdsOf,
  seenKey,
  seqsOf,
} from "./known.ts"
import { type Lineage, makeLineage } from "./lineage.ts"
import { forgottenOf, withoutLogged } from "./placement.ts"

/** Stores one batch inside its transaction. */
export class Keeper {
  readonly #tx: Store
  readonly #batch: Batch
  readonly #projects: Map<string, Project | undefined>
  readonly #known: Map<string, KnownSession>
  readonly #rules: ArchiveRules
  readonly #nowMs: number
  readonly #lineage: Lineage
  #sourceId = 0
  #pending: NewTurn[] = []
  /** Sessions of the batch that may have rewound turns. */
  readonly #rewound = new Set<SessionId>()
  #kept = 0
  #leftOut = 0

  constructor(
    tx: Store,
    batch: Batch,
    projects: Map<string, Project | undefined>,
    known: Map<string, KnownSession>,
    rules: ArchiveRules,
    clock: Clock,
  ) {
    this.#tx = tx
    this.#batch = batch
    this.#projects = projects
    this.#known = known
    this.#rules = rules
    this.#nowMs = clock.nowMs()
    this.#lineage = makeLineage(tx, batch.source.platform, this.#nowMs)
  }

  async run(): Promise<Kept> {
    // An adapter's memory may quote turns.
    const memory = inStrings(this.#batch.source.memory, (text) => this.#rules.redact(text, null))
    const source = { ...this.#batch.source, memory }
    this.#sourceId = await this.#tx.sources.save(source)
    for (const capture of await withoutLogged(this.#tx, this.#batch)) {
      if (capture.type === "session") await this.#describe(capture)
      else if (capture.type === "turn") await this.#turn(capture)
      else if (capture.type === "rewind") await this.#rewind(capture)
    }
    await this.#flush()
    // Not for scoped ids: a repository could claim to be the original of another project's session.
    if (this.#batch.scope === undefined) await this.#lineage.link()
    if (this.#batch.seen) await this.#supersedeUnseen(this.#batch.seen)
    if (this.#leftOut > 0) {
      const skipped = { ...source.skipped, [EXCLUDED]: (source.skipped[EXCLUDED] ?? 0) + this.#leftOut }
      await this.#tx.sources.save({ ...source, skipped })
    }
    return { turns: this.#kept, leftOut: this.#leftOut }
  }

  async #session(nativeId: string, atMs?: number, path?: string): Promise<KnownSession> {
    const { platform } = this.#batch.source
    const key = `${platform} ${nativeId}`
    const cached = this.#known.get(key)
    if (cached) return cached
    const forgotten = await forgottenOf(this.#tx, this.#batch, nativeId)
    if (forgotten.whole) return this.#leaveOut(nativeId, { byFolder: false })
    const found = await this.#tx.sessions.byNative(platform, nativeId)
    // An earlier reading excluded the session's folder, or the session would exist.
    if (!found && path === undefined && (this.#batch.source.skipped[EXCLUDED] ?? 0) > 0)
      return this.#leaveOut(nativeId, { byFolder: true })
    const createdAtMs = this.#notLater(atMs ?? this.#firstTime(nativeId))
    const about = { platform, nativeId, createdAtMs, ...defined({ origin: this.#batch.source.origin }) }
    const session = found ?? (await createSession(this.#tx, about, this.#nowMs))
    // Not by its turn count, which excludes rewound turns.
    const isOld = found !== undefined
    const { origin = "agent" } = this.#batch.source
    if (origin === "repository" && session.origin !== origin) await this.#tx.origins.mark(session.id, origin)
    const fresh = {
      id: session.id,
      hasReal: isOld && (await this.#tx.turns.hasReal(session.id)),
      hasFallbacks: isOld,
      hasRewound: isOld,
      projectPath: session.projectPath,
      excluded: false,
      byFolder: false,
      lastAtMs: session.updatedAtMs,
      described: "",
      isForgotten: forgotten.turn,
    }
    this.#known.set(key, fresh)
    return fresh
  }

  /** For a session that does not state its start. */
  #firstTime(nativeId: string): number {
    for (const capture of this.#batch.captures)
      if (capture.type === "turn" && capture.sessionId === nativeId && capture.atMs !== undefined) return capture.atMs
    return this.#batch.source.mtimeMs
  }

  /** Clamps future times: such a session would stay the newest for years. */
  #notLater(atMs: number): number {
    return Number.isNaN(atMs) ? this.#nowMs : Math.max(0, Math.min(Math.trunc(atMs), this.#nowMs))
  }

  #isLater(atMs: number | undefined): boolean {
    return atMs !== undefined && !(atMs <= this.#nowMs)
  }

  /** Caches a session that must not be stored. */
  #leaveOut(nativeId: string, why: { byFolder: boolean }): KnownSession {
    const none = { ...NOTHING_KEPT, ...why }
    this.#known.set(`${this.#batch.source.platform} ${nativeId}`, none)
    return none
  }

  /** With excluded folders, a capture without a folder has to wait for the one that names it. */
  async #mustWait({ type: _, sessionId, ...facts }: SessionCapture): Promise<boolean> {
    const { platform } = this.#batch.source
    if (!this.#rules.excludesSome || (await this.#tx.sessions.byNative(platform, sessionId))) return false
    const isAlone = !this.#batch.captures.some((other) => other.type === "turn" && other.sessionId === sessionId)
    if (!isAlone && Object.keys(facts).length === 0) throw new Error("the folder of its session is not known yet")
    return isAlone
  }

  async #describe(capture: SessionCapture): Promise<void> {
    const first = capture.projectPath
    const known = this.#known.get(`${this.#batch.source.platform} ${capture.sessionId}`)
    if (first !== undefined && !known?.projectPath && this.#rules.excluded(first)) {
      this.#leaveOut(capture.sessionId, { byFolder: true })
      this.#leftOut++
      return
    }
    if (first === undefined && !known && (await this.#mustWait(capture))) return
    const session = await this.#session(capture.sessionId, capture.startedAtMs, first)
    const described = JSON.stringify(capture)
    if (session.excluded || session.described === described) return
    session.described = described
    // Agents change folders; the session stays with the project in which it started.
    const path = session.projectPath === null ? first : undefined
    if (path !== undefined) session.projectPath = path
    const project = path === undefined ? undefined : this.#projects.get(path)
    const { title, model, gitBranch, agentVersion, startedAtMs, parent } = capture
    // A future time was clamped at creation; clamping again would move it at each reading.
    const isOwnTime = startedAtMs !== undefined && !this.#isLater(startedAtMs)
    const facts = defined({
      projectId: project?.id,
      projectPath: path,
      title: title && {
        text: oneLine(this.#redact(title.text, session)),
        rank: TITLE_SOURCES.indexOf(title.from) + 1,
        firstStands: title.from === "prompt",
      },
      model: model && oneLine(model),
      gitBranch: gitBranch && oneLine(this.#rules.redact(gitBranch, session.projectPath)),
      agentVersion: agentVersion && oneLine(agentVersion),
      startedAtMs: isOwnTime ? this.#notLater(startedAtMs) : undefined,
      isSubagent: parent?.kind === "subagent" || undefined,
    })
    await this.#tx.sessions.describe(session.id, facts)
    if (parent) await this.#lineage.parent(session.id, parent, this.#notLater(startedAtMs ?? this.#nowMs))
  }

  async #turn(capture: TurnCapture): Promise<void> {
    const session = await this.#session(capture.sessionId, capture.atMs)
    if (session.byFolder) this.#leftOut++
    if (session.excluded || session.isForgotten(capture.nativeId)) return
    if (capture.fallback && session.hasReal) return
    if (!capture.fallback && session.hasFallbacks && !session.hasReal) await this.#replaceFallbacks(session)
    if (capture.fallback) session.hasFallbacks = true
    else session.hasReal = true
    const atMs = this.#notLater(capture.atMs ?? Math.max(session.lastAtMs, 0))
    session.lastAtMs = atMs
    if (session.hasRewound) this.#rewound.add(session.id)
    this.#pending.push({
      sessionId: session.id,
      nativeId: capture.nativeId,
      kind: capture.kind,
      text: cutText(this.#redact(capture.text, session)),
      atMs,
      // A clamped time is not the turn's own: it keeps the first value when read again.
      isTimeLent: capture.atMs === undefined || this.#isLater(capture.atMs),
      model: capture.model ?? null,
      toolName: capture.toolName ?? null,
      toolCallId: capture.toolCallId ?? null,
      isError: capture.isError ?? false,
      isFallback: capture.fallback ?? false,
      usage: capture.usage ?? null,
      ...(capture.metadata === undefined
        ? {}
        : { metadata: redactInside(capture.metadata, (text) => this.#redact(text, session)) }),
      sourceId: this.#sourceId,
    })
  }

  #redact(text: string, { projectPath }: KnownSession): string {
    return this.#batch.isRedacted ? text : this.#rules.redact(text, projectPath)
  }

  async #replaceFallbacks(session: KnownSession): Promise<void> {
    await this.#flush()
    await this.#note("turns.dropped", session.id, await this.#tx.turns.dropFallbacks(session.id))
    await this.#tx.turns.recount([session.id])
    session.hasFallbacks = false
  }

  async #rewind({ sessionId, fromNativeId: nativeId, after, atMs }: RewindCapture): Promise<void> {
    const beforeMs = atMs === undefined ? undefined : this.#notLater(atMs)
    await this.#flush()
    const session = await this.#session(sessionId)
    if (session.excluded) return
    session.hasRewound = true
    const seqs = await this.#tx.turns.supersedeFrom(session.id, { nativeId, after, beforeMs }, this.#nowMs)
    await this.#note("turns.superseded", session.id, seqs)
    await this.#tx.turns.recount([session.id])
  }

  async #flush(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    const put = await this.#tx.turns.put(pending)
    this.#lineage.grew(pending)
    if (put.length === 0) return
    this.#kept += put.length
    for (const [sessionId, turns] of Map.groupBy(put, (turn) => turn.sessionId)) {
      const fresh = turns.filter((turn) => turn.inserted)
      await this.#tx.sessions.grow(sessionId, {
        turns: fresh.length,
        prompts: fresh.filter(({ kind }) => kind === "prompt").length,
        lastAtMs: Math.max(...turns.map(({ atMs }) => atMs)),
      })
      const mayReturn = fresh.length < turns.length && this.#rewound.has(sessionId)
      if (mayReturn) await this.#tx.turns.recount([sessionId])
      // Existing turns that changed or are live again.
      const changed = turns.filter((turn) => !turn.inserted)
      await this.#note("turns.kept", sessionId, seqsOf(turns), changed.length > 0 ? { changed: seqsOf(changed) } : {})
    }
  }

  /** Consumers see turns through these entries only, so every change needs one. */
  async #note(
    kind: `turns.${"kept" | "superseded" | "dropped"}`,
    sessionId: SessionId,
    seqs: number[],
    more: { changed?: number[] } = {},
  ) {
    if (seqs.length === 0) return
    await this.#tx.journal.append([{ kind, sessionId, atMs: this.#nowMs, data: { seqs, ...more } }])
  }

  async #supersedeUnseen(seen: ReadonlySet<string>): Promise<void> {
    const live = await this.#tx.turns.liveOfSource(this.#sourceId)
    const natives = nativeIdsOf(this.#known)
    const gone: typeof live = []
    for (const turn of live) {
      const native = natives.get(turn.sessionId) ?? (await this.#tx.sessions.byId(turn.sessionId))?.nativeId
      const stated = native !== undefined && this.#batch.scope ? withoutScope(native) : native
      if (stated !== undefined && !seen.has(seenKey(stated, turn.nativeId))) gone.push(turn)
    }
    if (gone.length === 0) return
    await this.#tx.turns.supersede(seqsOf(gone), this.#nowMs)
    const sessions = Map.groupBy(gone, ({ sessionId }) => sessionId)
    for (const session of this.#known.values()) session.hasRewound ||= sessions.has(session.id)
    await this.#tx.turns.recount([...sessions.keys()])
    for (const [sessionId, turns] of sessions) await this.#note("turns.superseded", sessionId, seqsOf(turns))
  }
}
