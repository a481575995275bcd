import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture, SessionCapture } from "../../domain/capture.ts"
import type { Platform, WholeReader } from "../../domain/platform.ts"
import type { Usage } from "../../domain/turn.ts"
import { defined } from "../../lib/defined.ts"
import { lookAtFile } from "../../lib/untrusted-file.ts"
import { type BlockTurn, makeNaming, turnsOfTaggedMessage, withToolNames } from "../shared/records/anthropic.ts"
import { firstPrompt, sessionOf, titled } from "../shared/records/captures.ts"
import { asNumber, asObject, asObjects, asString, type Json } from "../shared/records/jsonl.ts"
import { absent, jsonAt, TASK_FILE, taskCaptures, taskFiles } from "../shared/records/task-folders.ts"
import { textOf, timeOf, wellFormed } from "../shared/records/text.ts"
import { extensionDirs } from "../shared/records/vscode.ts"

export const cline: Platform = {
  id: "cline",
  label: "Cline",
  verified: "August 2026",
  // Its command line resumes tasks only interactively.
  can: { hooks: false, resume: false, times: true },
  clientNames: ["Cline", "@cline/core"],
  places(machine) {
    const { join } = machine.os === "win32" ? win32 : posix
    const { CLINE_DATA_DIR, CLINE_DIR, CLINE_SESSION_DATA_DIR } = machine.env
    const data = CLINE_DATA_DIR || join(CLINE_DIR || join(machine.homeDir, ".cline"), "data")
    return [
      ...[...extensionDirs(machine, "saoudrizwan.claude-dev"), data].map((dir) => ({
        dir: join(dir, "tasks"),
        depth: 1,
      })),
      { dir: CLINE_SESSION_DATA_DIR || join(data, "sessions"), depth: 1 },
    ]
  },
  claim({ path, relative }) {
    const folder = dirname(path)
    if (TASK_FILE.test(relative)) return { key: folder, files: taskFiles(folder), reader: task }
    const [, id, name, part] = /^([^/]+)\/([^/]+?)(\.messages|\.compaction)?\.json$/.exec(relative) ?? []
    if (id === undefined || name === undefined) return undefined
    if (name !== id) return part === ".messages" ? { key: path, reader: subagent } : undefined
    return { key: folder, files: sessionFiles(folder), reader: session }
  },
}

const task: WholeReader = {
  mode: "whole",
  async read(path) {
    const folder = dirname(path)
    const id = basename(folder)
    const about = (await taskHistory(join(dirname(dirname(folder)), "state", "taskHistory.json"))).get(id) ?? {}
    return taskCaptures(folder, asString(about.task), ({ projectPath, model }) => ({
      projectPath: asString(about.cwdOnTaskInitialization) ?? asString(about.shadowGitConfigWorkTree) ?? projectPath,
      model: asString(about.modelId) ?? model,
    }))
  },
}

/** One file covers all tasks, so cache it parsed. */
let history: { path: string; mtimeMs: number; tasks: Map<string, Json> } | undefined

async function taskHistory(path: string): Promise<Map<string, Json>> {
  const mtimeMs = lookAtFile(path)?.mtimeMs
  if (mtimeMs === undefined) return new Map()
  if (history?.path === path && history.mtimeMs === mtimeMs) return history.tasks
  const items = asObjects(await jsonAt(path).catch(() => undefined))
  history = { path, mtimeMs, tasks: new Map(items.map((item) => [String(item.id), item])) }
  return history.tasks
}

function sessionFiles(folder: string): string[] {
  return ["", ".messages", ".compaction"].map((part) => join(folder, `${basename(folder)}${part}.json`))
}

/** A session of the newer store: manifest, messages, and the compacted messages. */
const session: WholeReader = {
  mode: "whole",
  async read(path) {
    const folder = dirname(path)
    const sessionId = basename(folder)
    const [about, messages, compaction] = sessionFiles(folder) as [string, string, string]
    const manifest = asObject(await jsonAt(about).catch(() => undefined)) ?? {}
    const all = await messagesAt(messages)
    const compacted = asObject(await jsonAt(compaction).catch(() => undefined))
    const until = compacted ? (asNumber(compacted.source_message_count) ?? all.length) : all.length
    const nameOf = makeNaming()
    const turns = [
      ...sessionTurns(all.slice(0, until), sessionId, nameOf),
      ...summaryOf(asObjects(compacted?.messages), all, sessionId),
      ...sessionTurns(all.slice(until), sessionId, nameOf),
    ]
    if (!turns.some(({ type }) => type === "turn")) return turns
    return [describedBy(manifest, sessionId, turns), ...withToolNames(turns)]
  },
}

/** Sub-agents of a session have their own files in its folder. */
const subagent: WholeReader = {
  mode: "whole",
  async read(path) {
    const root = basename(dirname(path))
    const stem = basename(path, ".messages.json")
    const sessionId = stem.includes("__") ? `${root}__teamtask__${stem}` : `${root}__${stem}`
    const turns = withToolNames(sessionTurns(await messagesAt(path), sessionId, makeNaming()))
    if (turns.length === 0) return []
    const manifest = asObject(await jsonAt(join(dirname(path), `${root}.json`)).catch(() => undefined)) ?? {}
    const { title: _, ...described } = describedBy(
      { cwd: manifest.cwd, workspace_root: manifest.workspace_root },
      sessionId,
      turns,
    )
    return [{ ...described, parent: { sessionId: root, kind: "subagent" } }, ...turns]
  },
}

function describedBy(manifest: Json, sessionId: string, found: Capture[]): SessionCapture {
  return sessionOf(sessionId, {
    projectPath: asString(manifest.cwd) ?? asString(manifest.workspace_root),
    title: titled({ generated: asString(asObject(manifest.metadata)?.title), prompt: firstPrompt(found) }),
    model: asString(manifest.model),
    startedAtMs: timeOf(manifest.started_at),
  })
}

async function messagesAt(path: string): Promise<Json[]> {
  const content = await jsonAt(path).catch(absent)
  return asObjects(asObject(content)?.messages ?? content)
}

function sessionTurns(messages: Json[], sessionId: string, nameOf: (turn: BlockTurn) => string): Capture[] {
  return messages.flatMap((message) => {
    const [id, info] = [asString(message.id), asObject(message.modelInfo)]
    const model = message.role === "assistant" ? asString(info?.id) : undefined
    const captures = turnsOfTaggedMessage(message.role, message.content).map((turn, block): Capture => {
      if (turn.type === "skipped") return turn
      if (isSummary(message)) turn.kind = "summary"
      const nativeId = id === undefined ? nameOf(turn) : block === 0 ? id : `${id}:${block}`
      return { ...turn, sessionId, nativeId, ...defined({ atMs: asNumber(message.ts), model }) }
    })
    const last = captures.findLast((capture) => capture.type === "turn")
    const usage = usageOf(asObject(message.metrics))
    if (usage && last?.type === "turn" && message.role === "assistant") last.usage = usage
    return captures
  })
}

function isSummary({ metadata }: Json): boolean {
  return asObject(metadata)?.kind === "compaction_summary"
}

function usageOf(metrics: Json | undefined): Usage | undefined {
  if (!metrics) return undefined
  const [inputTokens, outputTokens] = [asNumber(metrics.inputTokens), asNumber(metrics.outputTokens)]
  const [cachedTokens, costUsd] = [asNumber(metrics.cacheReadTokens), asNumber(metrics.cost)]
  return defined({ inputTokens, outputTokens, cachedTokens, costUsd })
}

/** Compacted messages that are not among the originals are the summary. */
function summaryOf(compacted: Json[], messages: Json[], sessionId: string): Capture[] {
  const known = new Set(messages.flatMap(({ id, content }) => [id, textOf(content)]))
  const text = compacted
    .filter((message, _, all) => isSummary(message) || !all.some(isSummary))
    .filter(({ id, role, content }) => role !== "system" && !known.has(id ?? textOf(content)))
    .map(({ content }) => textOf(content).trim())
    .filter(Boolean)
    .join("\n")
  if (text === "") return []
  const summary = { type: "turn" as const, kind: "summary" as const, text: wellFormed(text) }
  return [{ ...summary, sessionId, nativeId: makeNaming()(summary) }]
}
