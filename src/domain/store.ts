import type { Analytics } from "./analytics.ts"
import type { Bindings } from "./binding.ts"
import type { LineageKind } from "./capture.ts"
import type { ApprovalRequests, Bots, Budgets, Holds, People, Roles, TeamPeople, Topics } from "./channel-store.ts"
import type { FollowedFolders } from "./folder-store.ts"
import type { Forgetting } from "./forgetting.ts"
import type { ProjectId, SessionId } from "./ids.ts"
import type { JournalEntry, NewJournalEntry } from "./journal.ts"
import type { Origins } from "./origin.ts"
import type { Project } from "./project.ts"
import type { Deliveries, PresenceStore, Routes, TaskStates, Updates } from "./queue-store.ts"
import type { Run } from "./run.ts"
import type { CapturedSession, NewSession, Session, SessionEdge, SessionFilter, SessionTally } from "./session.ts"
import type { NewSource, Source, SourceLook, SourceSummary } from "./source.ts"
import type { Audit, Pairs, Permissions } from "./team-store.ts"
import type { NewThought, Thought } from "./thought.ts"
import type { Turn, TurnKind } from "./turn.ts"
import type { WaitNotices } from "./wait-notice.ts"

/** Everything that is kept. One implementation, two dialects; test/contracts/store.ts is its meaning. */
export interface Store {
  readonly projects: Projects
  readonly sessions: Sessions
  readonly runs: Runs
  readonly thoughts: Thoughts
  readonly turns: Turns
  readonly sources: Sources
  readonly origins: Origins
  readonly folders: FollowedFolders
  readonly forgetting: Forgetting
  readonly bindings: Bindings
  readonly journal: Journal
  readonly deliveries: Deliveries
  readonly routes: Routes
  readonly presence: PresenceStore
  readonly updates: Updates
  readonly taskStates: TaskStates
  readonly pairs: Pairs
  readonly permissions: Permissions
  readonly audit: Audit
  readonly analytics: Analytics
  readonly topics: Topics
  readonly bots: Bots
  readonly people: People
  readonly teamPeople: TeamPeople
  readonly budgets: Budgets
  readonly approvalRequests: ApprovalRequests
  readonly waitNotices: WaitNotices
  readonly holds: Holds
  readonly roles: Roles
  /**
   * All or nothing. The store handed in is the one to use inside; transactions do not nest. `durability: "relaxed"` does
   * not wait for the disk: a power cut may undo the last of them, a crash of ours never does. It is for what can be read
   * again at its source.
   */
  transaction<T>(work: (tx: Store) => Promise<T>, options?: { durability?: "full" | "relaxed" }): Promise<T>
  /** A hint, after a commit, that the journal or the deliveries moved. Losing one costs seconds, never data. */
  onWake(listener: () => void): () => void
  /** When the first tables of this archive were made: what is derived from one archive is not taken for another's. */
  id(): Promise<string>
  /** Known without asking the database. */
  about: Pick<StoreFacts, "kind" | "place">
  facts(): Promise<StoreFacts>
  /** Makes sure that nothing deleted is left in any of the store's files. Outside of transactions. */
  purge(): Promise<void>
  /**
   * Empties the write-ahead log, in which replaced and deleted text stays readable. Never waits for readers: false while
   * one still needs it. Outside of transactions.
   */
  emptyLog(): Promise<boolean>
  /** Gives back the memory that only makes the next queries faster. */
  rest(): Promise<void>
  close(): Promise<void>
}

export interface StoreFacts {
  kind: string
  place: string
  sizeBytes: number
  version: string
  sessions: number
  thoughts: number
  journal: number
}

export interface Projects {
  /** The project of a canonical root, made if it is new. */
  ensure(rootUri: string, nowMs: number): Promise<Project>
  byId(id: ProjectId): Promise<Project | undefined>
  byRoot(rootUri: string): Promise<Project | undefined>
  /** A path that once led to a project keeps leading to it, also after the folder is gone. */
  remember(seenUri: string, projectId: ProjectId): Promise<void>
  bySeen(seenUri: string): Promise<Project | undefined>
  list(): Promise<Project[]>
}

export interface Sessions {
  /** Returns the session that already has this key, if there is one, and false. */
  create(session: NewSession): Promise<{ session: Session; created: boolean }>
  byId(id: SessionId): Promise<Session | undefined>
  /** In any order, without those that are not there. */
  byIds(ids: readonly SessionId[]): Promise<Session[]>
  /** The one that this caller chose last, if it chose one. */
  boundTo(callerKey: string): Promise<Session | undefined>
  /** The same, and how many of this project and platform are not archived: what a new connection asks first. */
  stateOf(
    callerKey: string,
    projectId: ProjectId,
    platform: string,
  ): Promise<{ bound: Session | undefined; open: number }>
  /** At most two: enough to tell a unique prefix from an ambiguous one. */
  byPrefix(idOrNativeId: string): Promise<Session[]>
  /** Those that were logged under this id in some project, untrusted ones too; at most two. */
  logged(platform: string, nativeId: string): Promise<Session[]>
  /** Newest first. Sessions linked to the project count as its own. */
  list(filter: SessionFilter): Promise<Session[]>
  /** Those that fit, in no order; a search is kept to them. `among` are the only ones that are looked at. */
  ids(filter: {
    projectId?: ProjectId
    platform?: string
    gitBranch?: string
    domain?: string
    among?: readonly SessionId[]
  }): Promise<SessionId[]>
  /** How many there are in which something was said, by where and by whom. One that is linked counts in each project. */
  tally(): Promise<SessionTally[]>
  /** The one of this platform that was pinned last in this project, if any is. */
  pinned(projectId: ProjectId, platform: string): Promise<Session | undefined>
  update(
    id: SessionId,
    change: Partial<
      Pick<Session, "title" | "tags" | "domain" | "pinnedAtMs" | "archivedAtMs" | "updatedAtMs" | "projectId">
    >,
  ): Promise<void>
  byNative(platform: string, nativeId: string): Promise<Session | undefined>
  /** Notes which agent logs this session by hand, where its own files are read as well. */
  noteLogger(id: SessionId, platform: string): Promise<void>
  /** Those of them in which something is left, newest first. */
  loggedBy(platform: string): Promise<{ id: SessionId; projectId: ProjectId | null }[]>
  /** Writes what a platform says of its session; a title of lower rank does not replace one of higher. */
  describe(id: SessionId, facts: CapturedSession): Promise<void>
  /** Counts new turns in, and moves the time on. */
  grow(id: SessionId, by: { turns: number; prompts: number; lastAtMs: number }): Promise<void>
  /** True when the edge is new. */
  addEdge(id: SessionId, edge: SessionEdge): Promise<boolean>
  edges(id: SessionId): Promise<SessionEdge[]>
  /** Those that say they come from this one. */
  children(platform: string, nativeId: string): Promise<{ id: SessionId; kind: LineageKind; atMs: number }[]>
  /** Notes that the session is a copy of one that is not kept yet, and which turn that one has too. */
  addOrphan(id: SessionId, copy: { platform: string; nativeTurnId: string; atMs: number }): Promise<void>
  orphans(platform: string): Promise<{ id: SessionId; nativeTurnId: string }[]>
  /** What it is a copy of is known now. */
  dropOrphan(id: SessionId, platform: string): Promise<void>
  link(id: SessionId, projectId: ProjectId): Promise<void>
  linkedRoots(id: SessionId): Promise<string[]>
  /** Ids of those archived now: untouched since `beforeMs` and not pinned. */
  archiveOlder(beforeMs: number, nowMs: number): Promise<SessionId[]>
}

export interface Runs {
  /** Hears of a process on a session: it goes on, unless `end` says how it ended. */
  seen(run: {
    sessionId: SessionId
    host: string
    pid: number
    pane: string | null
    start?: string
    end?: string
    atMs: number
  }): Promise<void>
  /** What the same process, or else the same pane, ran last before this session. */
  before(place: {
    platform: string
    nativeId: string
    host: string
    pid: number
    pane: string | null
    atMs: number
  }): Promise<Run | undefined>
  /** The session that the process is in, as far as it was told; no sub-agent's. */
  at(process: { host: string; pid: number }): Promise<Pick<Run, "platform" | "nativeId"> | undefined>
  /** Oldest first. */
  ofSession(sessionId: SessionId): Promise<Run[]>
}

export type NewTurn = Omit<Turn, "seq" | "supersededAtMs"> & {
  sourceId: number | null
  /** True where the platform told no time and the turn before lent its own: that never replaces one that is there. */
  isTimeLent?: boolean
}

export interface PutTurn {
  seq: number
  sessionId: SessionId
  kind: TurnKind
  atMs: number
  inserted: boolean
}

export interface TurnQuery {
  /** Also what the platform took back. */
  superseded?: boolean
  kinds?: readonly TurnKind[]
  /** Up to this moment. */
  untilMs?: number
  /** The last ones; with `fromStart`, the first ones. */
  limit?: number
  fromStart?: boolean
  /** Longer texts are cut: a file that was written is long, and its name stands at the beginning. */
  maxChars?: number
}

export interface Turns {
  /**
   * Adds what is new and changes what reads differently now; what is as it was is left alone and not returned. A model
   * that is not told again stays.
   */
  put(turns: NewTurn[]): Promise<PutTurn[]>
  /** In the order of the conversation. */
  ofSession(sessionId: SessionId, query?: TurnQuery): Promise<Turn[]>
  bySeqs(seqs: number[]): Promise<Turn[]>
  /** By number; what is not there is absent. */
  texts(seqs: readonly number[]): Promise<Map<number, Pick<Turn, "text" | "metadata">>>
  /** The numbers alone, of rewound turns too. */
  seqs(sessionId: SessionId): Promise<number[]>
  byNative(sessionId: SessionId, nativeId: string): Promise<Turn | undefined>
  /** Where a session's exchanges begin, in the order of the conversation: its first turn, and every prompt after it. */
  outline(sessionId: SessionId): Promise<{ seq: number; atMs: number }[]>
  /** The exchange that begins with this turn, without rewound turns. */
  ofExchange(sessionId: SessionId, seq: number): Promise<Turn[]>
  /** Sessions of the platform that have a turn under this id, the one that had it first before others. */
  holders(platform: string, nativeTurnId: string): Promise<{ id: SessionId; nativeId: string }[]>
  liveOfSource(sourceId: number): Promise<{ seq: number; sessionId: SessionId; nativeId: string }[]>
  supersede(seqs: number[], atMs: number): Promise<void>
  /**
   * This one and all that follow it in the conversation, whenever they were kept, or with `after` only those that follow;
   * all of the session when null. What was said at `beforeMs` or later is left alone. Returns those that were live.
   */
  supersedeFrom(
    sessionId: SessionId,
    range: { nativeId: string | null; after?: boolean | undefined; beforeMs?: number | undefined },
    atMs: number,
  ): Promise<number[]>
  /** Whether the session has a turn that is no fallback. */
  hasReal(sessionId: SessionId): Promise<boolean>
  /** Returns those that are gone. */
  dropFallbacks(sessionId: SessionId): Promise<number[]>
  /** Recounts the sessions after something was superseded or dropped. */
  recount(sessionIds: SessionId[]): Promise<void>
}

export interface Sources {
  /** Of all of them, how they looked when they were last read. */
  looks(): Promise<SourceLook[]>
  byKey(platform: string, key: string): Promise<Source | undefined>
  save(source: NewSource): Promise<number>
  summaries(): Promise<SourceSummary[]>
}

export interface ThoughtPage {
  /** Highest sequence number to return, exclusive; absent for the newest page. */
  beforeSeq?: number
  limit: number
}

export interface Thoughts {
  /**
   * Numbers are unique per branch; call inside a transaction that holds `lock`. The session is touched with it: its
   * counts, its time, and out of the archive. `thoughtCount` is how many it has now.
   */
  add(thought: NewThought): Promise<{ thought: Thought; thoughtCount: number }>
  byKey(key: string): Promise<Thought | undefined>
  /** Holds the session against other writers until the transaction ends. */
  lock(sessionId: SessionId): Promise<void>
  highest(sessionId: SessionId, branchId: string | null): Promise<number>
  at(sessionId: SessionId, branchId: string | null, number: number): Promise<Thought | undefined>
  branchOrigin(sessionId: SessionId, branchId: string): Promise<number | undefined>
  /** Newest first, by the order in which they were recorded, main line and branches together. */
  page(sessionId: SessionId, page: ThoughtPage): Promise<Thought[]>
  all(sessionId: SessionId): Promise<Thought[]>
  seqs(sessionId: SessionId): Promise<number[]>
  bySeqs(seqs: number[]): Promise<Thought[]>
}

export interface Journal {
  /** How many were written; those under a key that was there are not. */
  append(entries: NewJournalEntry[]): Promise<number>
  after(seq: number, limit: number): Promise<JournalEntry[]>
  last(): Promise<number>
  position(consumer: string): Promise<number>
  advance(consumer: string, seq: number): Promise<void>
}
