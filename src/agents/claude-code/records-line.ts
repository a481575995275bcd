import type { RewindCapture, TurnCapture } from "../../domain/capture.ts"
import { asArray, asObject, asString, type Json } from "../shared/records/jsonl.ts"

/**
 * The current branch of a conversation. Claude Code never deletes rewound records: the next prompt's parent is simply a
 * record further up, and everything between is abandoned. Only prompts count: results of parallel tools, notices and
 * sub-agents branch off without rewinding anything.
 */
export interface Line {
  sessionId: string
  /** Each prompt or compaction, with the following records that may be a later prompt's parent. */
  steps: Step[]
  /** Records name their parents here; not every program that writes such files does. */
  isLinked?: true
}
type Step = [firstTurn: string, records: string[]]

/** Bounded because the state is stored with every batch that is read. */
const MOST_STEPS = 300
const MOST_RECORDS = 1_000
/** Prefix of records with a reply of the model. */
const REPLY = "+"

/** Adds a record of the main conversation. Capture the returned rewind before the record's own turns. */
export function follow(line: Line, record: Json, turns: TurnCapture[]): RewindCapture | undefined {
  const [uuid, parent, first] = [asString(record.uuid), record.parentUuid, turns[0]]
  if (typeof parent === "string") line.isLinked = true
  if (uuid === undefined || !first) return undefined
  if (first.kind !== "prompt" && first.kind !== "reset") {
    if (turns.some(({ kind }) => kind === "reply")) line.steps.at(-1)?.[1].push(REPLY + short(uuid))
    return undefined
  }
  const mayRewind = record.type === "user" && parent !== undefined
  const rewind = mayRewind ? rewound(line, asString(parent) ?? null) : undefined
  line.steps.push([first.nativeId, [short(uuid), ...carriedOver(record)]])
  shorten(line)
  const time = first.atMs === undefined ? {} : { atMs: first.atMs }
  return rewind && { type: "rewind", sessionId: line.sessionId, ...rewind, ...time }
}

function rewound(line: Line, parent: string | null): Pick<RewindCapture, "fromNativeId" | "after"> | undefined {
  const last = line.steps.at(-1)
  if (!last) return undefined
  if (parent === null) {
    if (!line.isLinked) return undefined
    line.steps = []
    return { fromNativeId: null }
  }
  const id = short(parent)
  const isParent = (record: string) => record === id || record === REPLY + id
  const index = line.steps.findLastIndex(([, records]) => records.some(isParent))
  if (index < 0) {
    // A record of another kind at the end of the branch, or one too far up.
    last[1].push(id)
    return undefined
  }
  const [, records] = line.steps[index]!
  const rest = records.splice(records.findIndex(isParent) + 1)
  const [next] = line.steps.splice(index + 1)
  if (rest.some((record) => record.startsWith(REPLY))) return { fromNativeId: parent, after: true }
  return next && { fromNativeId: next[0] }
}

/** A compaction may keep the last messages: the conversation continues from them although they precede it. */
function carriedOver({ compactMetadata }: Json): string[] {
  const { preservedSegment, preservedMessages } = asObject(compactMetadata) ?? {}
  const kept = [asObject(preservedSegment)?.tailUuid, ...asArray(asObject(preservedMessages)?.uuids)]
  return kept.flatMap((uuid) => (typeof uuid === "string" ? [short(uuid)] : []))
}

function shorten(line: Line): void {
  line.steps.splice(0, line.steps.length - MOST_STEPS)
  let count = 0
  for (const step of line.steps.toReversed()) {
    count += step[1].length
    if (count > MOST_RECORDS) step[1] = []
  }
}

/** The end of an id: its start may be a timestamp, shared by many. */
const short = (uuid: string) => uuid.slice(-8)
