import type { Metadata } from "./metadata.ts"
import type { Placement } from "./origin.ts"
import type { Project } from "./project.ts"
import type { TurnKind, Usage } from "./turn.ts"

/** What a platform's adapter makes of the platform's own records. Ids are the platform's; nothing here is ours yet. */
export type Capture = SessionCapture | TurnCapture | RewindCapture | SkippedCapture

/** What is known of a session. Comes before its first turn, and again when something becomes known; absent fields leave what is there. */
export interface SessionCapture {
  type: "session"
  sessionId: string
  /** The folder in which the agent worked. */
  projectPath?: string
  title?: { text: string; from: TitleSource }
  model?: string
  gitBranch?: string
  agentVersion?: string
  startedAtMs?: number
  /**
   * Where it came from: an edge between sessions, of the same platform unless it is named. The id is null where it begins
   * with a copy of another's turns, under their ids.
   */
  parent?: { sessionId: string | null; kind: LineageKind; platform?: string }
}

/** Later ones win over earlier ones of the same or lower rank. */
export const TITLE_SOURCES = ["prompt", "summary", "generated", "person"] as const
export type TitleSource = (typeof TITLE_SOURCES)[number]

export const LINEAGE_KINDS = ["resume", "clear", "compact", "fork", "subagent", "handover"] as const
export type LineageKind = (typeof LINEAGE_KINDS)[number]

export interface TurnCapture {
  type: "turn"
  sessionId: string
  /** Unique within the session, and the same whenever and wherever the record is read again. */
  nativeId: string
  kind: TurnKind
  text: string
  /** Absent where the platform keeps no time; then the turn before it lends its own. */
  atMs?: number
  model?: string
  toolName?: string
  toolCallId?: string
  isError?: boolean
  usage?: Usage
  metadata?: Metadata
  /** From a poorer record of the same conversation: kept only while the session has no turn from a fuller one. */
  fallback?: true
}

/** The platform took turns back: this one and all that follow it in the conversation, or all when `fromNativeId` is null. */
export interface RewindCapture {
  type: "rewind"
  sessionId: string
  fromNativeId: string | null
  /** True where that turn itself stays. */
  after?: true
  /** When it did: what was said then or later is not meant, also where it is read again. */
  atMs?: number
}

/** A record that is no turn. Counted by kind, so that `sources` can say what was left out and why. */
export interface SkippedCapture {
  type: "skipped"
  kind: string
  /** True where the adapter does not know the kind at all. */
  unknown?: boolean
}

/** Says where a source is. By its location alone: what a file holds can be anybody's. */
export type PlaceSource = (source: { platform: string; path: string }) => Promise<Placement>

export interface ArchiveRules {
  redact(text: string, projectPath: string | null): string
  /** True for folders of which nothing may be kept. */
  excluded(projectPath: string): boolean
  /** True where there are such folders. */
  excludesSome?: boolean
  projectOf(path: string): Promise<Project | undefined>
  /** Absent: everything is an agent's own. */
  place?: PlaceSource
}
