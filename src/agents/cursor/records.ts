import { posix, win32 } from "node:path"
import type { Capture, SessionCapture, TurnCapture } from "../../domain/capture.ts"
import type { DatabaseReader, Platform } from "../../domain/platform.ts"
import { OVER_LIMIT } from "../../domain/source.ts"
import { type MakeTurn, sessionOf, titled, turnsAt } from "../shared/records/captures.ts"
import { CELL_LEFT_OUT, type ForeignDb, MAX_CELL_BYTES, withForeignDb } from "../shared/records/foreign-sqlite.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import {
  asArray,
  asNumber,
  asObject,
  asObjects,
  asString,
  type Json,
  jsonIn,
  skipped,
} from "../shared/records/jsonl.ts"
import { timeOf } from "../shared/records/text.ts"
import { vscodeUserDirs } from "../shared/records/vscode.ts"
import { makeProjects } from "./records-projects.ts"

export const cursor: Platform = {
  id: "cursor",
  label: "Cursor",
  verified: "August 2026",
  can: { hooks: false, resume: false, times: true },
  clientNames: ["cursor-vscode", "Cursor"],
  places(machine) {
    const { join } = machine.os === "win32" ? win32 : posix
    // Skips the transcripts in ~/.cursor/projects: the same conversations without results and times.
    return vscodeUserDirs(machine, ["Cursor"]).map((user) => ({ dir: join(user, "globalStorage"), depth: 0 }))
  },
  claim: ({ path, relative }) => (relative === "state.vscdb" ? { key: path, reader: database } : undefined),
}

interface Cursor {
  /** Every write makes a new row with a higher number. */
  row: number
  /** That row's key: if it is gone, rows were deleted and their numbers reused. */
  key: string
  /** The most recently changed composers. */
  composers: Record<string, { updatedAt: number; last: string }>
}

interface FoundComposer {
  id: string
  updatedAt: number
  /** Its last bubble: once that is gone from the composer, the conversation was rewound. */
  last: string
}

const MAX_REMEMBERED = 300
const MAX_REUSED_ROWS = 2_000
/** Reads a few rows at a time: a long transaction would block Cursor. */
const COMPOSERS_AT_ONCE = 200
const BUBBLES_AT_ONCE = 100

const database: DatabaseReader = {
  mode: "database",
  watch: (path) => [`${path}-wal`],
  async read(path, cursor) {
    const before = (cursor ?? undefined) as Cursor | undefined
    const { row, key, since, ids } = withForeignDb(path, (db) => changedIds(db, before))
    const changed: FoundComposer[] = []
    for (let from = 0; from < ids.length; from += COMPOSERS_AT_ONCE)
      changed.push(...withForeignDb(path, (db) => composersOf(db, ids.slice(from, from + COMPOSERS_AT_ONCE))))
    changed.sort((a, b) => b.updatedAt - a.updatedAt)
    const composers = { ...before?.composers }
    for (const { id, updatedAt, last } of changed) composers[id] = { updatedAt, last }
    const latest = Object.entries(composers).toSorted(([, a], [, b]) => b.updatedAt - a.updatedAt)
    const next: Cursor = { row, key, composers: Object.fromEntries(latest.slice(0, MAX_REMEMBERED)) }
    return { captures: capturesOf(path, changed, before, since), cursor: next }
  },
}

/** Reads ranges of keys and rows only: the table may hold a hundred gigabytes, mostly unrelated. */
function changedIds(
  db: ForeignDb,
  before: Cursor | undefined,
): { row: number; key: string; since: number; ids: string[] } {
  if (db.all("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cursorDiskKV'").length === 0)
    return { row: 0, key: "", since: 0, ids: [] }
  const top = db.all("SELECT rowid, key FROM cursorDiskKV ORDER BY rowid DESC LIMIT 1")[0]
  const [row, key] = [Number(top?.rowid ?? 0), String(top?.key ?? "")]
  const same = before && db.all("SELECT 1 FROM cursorDiskKV WHERE key = ? AND +rowid >= ?", before.key, before.row)[0]
  const since = same ? before.row : Math.max(0, Math.min(row, before?.row ?? 0) - MAX_REUSED_ROWS)
  const rows =
    since === 0
      ? db.all("SELECT key FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'")
      : // The plus restricts the scan to new rows; without it SQLite walks all bubbles by key.
        db.all(
          `SELECT key FROM cursorDiskKV WHERE rowid > ? AND ((+key >= 'composerData:' AND +key < 'composerData;')
             OR (+key >= 'bubbleId:' AND +key < 'bubbleId;'))`,
          since,
        )
  return { row, key, since, ids: [...new Set(rows.map((found) => String(found.key).split(":")[1]!))] }
}

function composersOf(db: ForeignDb, ids: string[]): FoundComposer[] {
  return ids.flatMap((id) => {
    const [row] = db.all(
      `SELECT json_extract(text, '$.lastUpdatedAt', '$.createdAt', '$.fullConversationHeadersOnly[#-1].bubbleId',
         '$.conversation[#-1].bubbleId') AS found
       FROM (SELECT CASE WHEN octet_length(value) > ? THEN ? ELSE CAST(value AS TEXT) END AS text
             FROM cursorDiskKV WHERE key = ?) WHERE json_valid(text)`,
      MAX_CELL_BYTES,
      CELL_LEFT_OUT,
      `composerData:${id}`,
    )
    if (!row) return []
    const [updatedAt, createdAt, last, oldLast] = JSON.parse(String(row.found)) as unknown[]
    return [{ id, updatedAt: Number(updatedAt ?? createdAt ?? 0), last: String(last ?? oldLast ?? "") }]
  })
}

function* capturesOf(
  path: string,
  changed: FoundComposer[],
  before: Cursor | undefined,
  since: number,
): Generator<Capture> {
  const projectOf = makeProjects(path)
  for (const { id } of changed) {
    const known = before?.composers[id]
    const begun = withForeignDb(path, (db) => beginningOf(db, id, known?.last, since))
    if (begun === OVER_LIMIT.cell) yield skipped(begun)
    // Opened and never used.
    if (!begun || begun === OVER_LIMIT.cell) continue
    const { data, bubbles, rest, children, isRewound } = begun
    yield described(id, data, bubbles, known ? undefined : projectOf(id, data, bubbles))
    if (isRewound) yield { type: "rewind", sessionId: id, fromNativeId: null }
    for (const bubble of bubbles) yield* bubbleCaptures(bubble, id)
    for (const { some, from } of rest)
      for (const bubble of withForeignDb(path, (db) => bubblesOf(db, id, data, some, from)))
        yield* bubbleCaptures(bubble, id)
    yield* children
  }
}

/** Everything needed of most composers in one read. */
function beginningOf(db: ForeignDb, id: string, last: string | undefined, since: number) {
  const [data = {}] = valuesOf(db, [`composerData:${id}`], 0).values()
  if (data.type === OVER_LIMIT.cell) return OVER_LIMIT.cell
  const ids = bubbleIdsOf(data)
  const read = last === undefined ? 0 : ids.indexOf(last) + 1
  const [first, ...rest] = portions(ids, read, since)
  if (!first) return undefined
  const bubbles = bubblesOf(db, id, data, first.some, first.from)
  return { data, bubbles, rest, children: childrenOf(db, id, data), isRewound: Boolean(last) && read === 0 }
}

/** Of known bubbles only changed ones; a bubble can be written long before the composer lists it. */
function portions(ids: string[], read: number, since: number): { some: string[]; from: number }[] {
  const starts = (from: number, to: number) =>
    Array.from({ length: Math.ceil((to - from) / BUBBLES_AT_ONCE) }, (_, i) => from + i * BUBBLES_AT_ONCE)
  return [
    ...starts(0, read).map((at) => ({ some: ids.slice(at, Math.min(read, at + BUBBLES_AT_ONCE)), from: since })),
    ...starts(read, ids.length).map((at) => ({ some: ids.slice(at, at + BUBBLES_AT_ONCE), from: 0 })),
  ]
}

/** Deleted children are still listed. */
function childrenOf(db: ForeignDb, id: string, data: Json): SessionCapture[] {
  const keys = asArray(data.subComposerIds).map((child) => `composerData:${child}`)
  const used = [...valuesOf(db, keys, 0)].filter(([, child]) => bubbleIdsOf(child).length > 0)
  const parent = { sessionId: id, kind: "subagent" } as const
  return used.map(([key]) => sessionOf(key.slice("composerData:".length), { parent }))
}

function valuesOf(db: ForeignDb, keys: string[], since: number): Map<string, Json> {
  const rows = db.all(
    `SELECT key, CAST(value AS TEXT) AS text FROM cursorDiskKV
     WHERE key IN (SELECT value FROM json_each(?)) AND +rowid > ?`,
    JSON.stringify(keys),
    since,
  )
  const values = rows.map(({ key, text }) => [String(key), jsonIn(text)] as const)
  return new Map(values.filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** The bubbles' headers, in order; before 2025 the bubbles themselves. */
function listedIn({ fullConversationHeadersOnly, conversation }: Json): Map<string, Json> {
  const headers = asObjects(fullConversationHeadersOnly)
  const listed = headers.length > 0 ? headers : asObjects(conversation)
  return new Map(listed.map((bubble) => [asString(bubble.bubbleId) ?? "", bubble]))
}

function bubbleIdsOf(data: Json): string[] {
  return [...listedIn(data).keys()].filter(Boolean)
}

function bubblesOf(db: ForeignDb, id: string, data: Json, ids: string[], since: number): Json[] {
  const keyOf = (bubbleId: string) => `bubbleId:${id}:${bubbleId}`
  const stored = valuesOf(db, ids.map(keyOf), since)
  const [listed, tools] = [listedIn(data), oldToolsOf(data)]
  const isInline = asArray(data.fullConversationHeadersOnly).length === 0
  return ids.flatMap((bubbleId): Json[] => {
    const { createdAt, ...inline } = listed.get(bubbleId)!
    const bubble = stored.get(keyOf(bubbleId)) ?? (isInline ? inline : undefined)
    if (!bubble) return since > 0 ? [] : [{ bubbleId, isMissing: true }]
    return [{ createdAt, toolFormerData: tools[bubbleId], ...bubble, bubbleId }]
  })
}

/** Tool data from before each tool had a bubble. */
function oldToolsOf(data: Json): Json {
  const tools = asObjects(data.capabilities).find(({ type }) => type === TOOLS)
  const map = asObject(tools?.data)?.bubbleDataMap
  return asObject(map) ?? jsonIn(map) ?? {}
}

const TOOLS = 15
const [BY_PERSON, BY_MODEL] = [1, 2]

function bubbleCaptures(bubble: Json, sessionId: string): Capture[] {
  const nativeId = String(bubble.bubbleId)
  if (bubble.isMissing === true) return [skipped("missing bubble")]
  if (bubble.type === OVER_LIMIT.cell) return [skipped(OVER_LIMIT.cell)]
  if (bubble.type !== BY_PERSON && bubble.type !== BY_MODEL) return [skipped(`bubble ${bubble.type}`, true)]
  const [text, thought] = [textOf(bubble), asString(asObject(bubble.thinking)?.text) ?? ""]
  const turn = turnsAt(sessionId, timeOfBubble(bubble))
  const model = bubble.type === BY_MODEL ? modelNamed(asObject(bubble.modelInfo)) : undefined
  const kind = bubble.type === BY_PERSON ? "prompt" : "reply"
  const turns: TurnCapture[] = []
  if (thought.trim() !== "")
    turns.push(turn({ nativeId: `${nativeId}:thinking`, kind: "reasoning", text: thought, model }))
  if (text.trim() !== "") turns.push(turn({ nativeId, kind, text, model }))
  const tokens = asObject(bubble.tokenCount)
  const [inputTokens, outputTokens] = [asNumber(tokens?.inputTokens) ?? 0, asNumber(tokens?.outputTokens) ?? 0]
  const last = turns.at(-1)
  if (last && inputTokens + outputTokens > 0) last.usage = { inputTokens, outputTokens }
  turns.push(...toolTurns(asObject(bubble.toolFormerData), nativeId, turn))
  return turns
}

function modelNamed(info: Json | undefined): string | undefined {
  const name = asString(info?.modelName)
  return name && name !== "default" ? name : undefined
}

const textOf = ({ type, text = "" }: Json) =>
  type === BY_PERSON ? withoutInjected(asString(text) ?? "") : (asString(text) ?? "")

function toolTurns(tool: Json | undefined, bubbleId: string, turn: MakeTurn): TurnCapture[] {
  const toolName = asString(tool?.name)
  if (!tool || toolName === undefined) return []
  const named = { toolName, toolCallId: asString(tool.toolCallId) ?? bubbleId }
  const input = textIn(tool.rawArgs) || textIn(tool.params)
  const call = turn({ ...named, nativeId: `${bubbleId}:call`, kind: "tool_call", text: input })
  const isRejected = tool.userDecision === "rejected"
  const isError = tool.status === "error" || isRejected || undefined
  const text = textIn(tool.result) || textIn(tool.error) || (isRejected ? "Rejected by the person" : "")
  // Still running.
  if (text === "" && tool.status !== "completed" && !isError) return [call]
  return [call, turn({ ...named, nativeId: `${bubbleId}:result`, kind: "tool_result", text, isError })]
}

/** Some values are JSON strings, some are objects. */
function textIn(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)
}

function timeOfBubble({ createdAt, timingInfo }: Json): number | undefined {
  const timing = asObject(timingInfo)
  const sent = asNumber(createdAt) ?? asNumber(timing?.clientRpcSendTime) ?? asNumber(timing?.clientStartTime)
  // Some times count from the editor's start.
  return timeOf(createdAt) ?? (sent !== undefined && sent > 1e12 ? Math.trunc(sent) : undefined)
}

function described(sessionId: string, data: Json, bubbles: Json[], projectPath?: string): SessionCapture {
  const prompt = bubbles.filter(({ type }) => type === BY_PERSON).find((bubble) => textOf(bubble).trim())
  return sessionOf(sessionId, {
    projectPath,
    title: titled({ generated: asString(data.name), prompt: prompt && textOf(prompt) }),
    model: modelNamed(asObject(data.modelConfig)),
    gitBranch: asString(data.createdOnBranch) || undefined,
    startedAtMs: asNumber(data.createdAt),
  })
}
