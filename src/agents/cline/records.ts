import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture, SessionCapture } from "../../domain/capture.ts"
import type { Platform, WholeReader } from "../../domain/platform.ts"
import type { Usage } from "../../domain/turn.ts"
import { lookAtFile } from "../../lib/untrusted-file.ts"
import { type BlockTurn, makeNaming, turnsOfTaggedMessage, withToolNames } from "../shared/records/anthropic.ts"
import { asArray, asNumber, asObject, asString, type Json } from "../shared/records/jsonl.ts"
import { absent, jsonAt, optional, readTask, TASK_FILE, taskFiles } from "../shared/records/task-folders.ts"
import { textOf, timeOf, titleOf, wellFormed } from "../shared/records/text.ts"
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
    const { turns, skipped, projectPath, model, startedAtMs } = await readTask(folder)
    if (turns.length === 0) return skipped
    const title =
      titleOf(asString(about.task) ?? "") ?? titleOf(turns.find(({ kind }) => kind === "prompt")?.text ?? "")
    const cwd = asString(about.cwdOnTaskInitialization) ?? asString(about.shadowGitConfigWorkTree) ?? projectPath
    const described: SessionCapture = {
      type: "session",
      sessionId: id,
      ...optional("projectPath", cwd),
      ...(title !== undefined && { title: { text: title, from: "prompt" as const } }),
      ...optional("model", asString(about.modelId) ?? model),
      ...optional("startedAtMs", startedAtMs),
    }
    return [described, ...turns, ...skipped]
  },
}

/** One file covers all tasks, so cache it parsed. */
let known: { path: string; mtimeMs: number; tasks: Map<string, Json> } | undefined

async function taskHistory(path: string): Promise<Map<string, Json>> {
  const mtimeMs = lookAtFile(path)?.mtimeMs
  if (mtimeMs === undefined) return new Map()
  if (known?.path === path && known.mtimeMs === mtimeMs) return known.tasks
  const items = asArray(await jsonAt(path).catch(() => undefined)).map((item) => asObject(item) ?? {})
  known = { path, mtimeMs, tasks: new Map(items.map((item) => [String(item.id), item])) }
  return known.tasks
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
      ...summaryOf(asArray(compacted?.messages), all, sessionId),
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
  const prompt = found.find((capture) => capture.type === "turn" && capture.kind === "prompt")
  const named = titleOf(asString(asObject(manifest.metadata)?.title) ?? "")
  const title = named ?? titleOf(prompt?.type === "turn" ? prompt.text : "")
  return {
    type: "session",
    sessionId,
    ...optional("projectPath", asString(manifest.cwd) ?? asString(manifest.workspace_root)),
    ...(title !== undefined && { title: { text: title, from: named === undefined ? "prompt" : "generated" } }),
    ...optional("model", asString(manifest.model)),
    ...optional("startedAtMs", timeOf(manifest.started_at)),
  }
}

async function messagesAt(path: string): Promise<Json[]> {
  const content = await jsonAt(path).catch(absent)
  return asArray(asObject(content)?.messages ?? content).map((message) => asObject(message) ?? {})
}

function sessionTurns(messages: Json[], sessionId: string, nameOf: (turn: BlockTurn) => string): Capture[] {
  return messages.flatMap((message) => {
    const [id, info] = [asString(message.id), asObject(message.modelInfo)]
    const model = message.role === "assistant" ? asString(info?.id) : undefined
    const captures = turnsOfTaggedMessage(message.role, message.content).map((turn, block): Capture => {
      if (turn.type === "skipped") return turn
      if (isSummary(message)) turn.kind = "summary"
      const nativeId = id === undefined ? nameOf(turn) : block === 0 ? id : `${id}:${block}`
      return { ...turn, sessionId, nativeId, ...optional("atMs", asNumber(message.ts)), ...optional("model", model) }
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
  return {
    ...optional("inputTokens", asNumber(metrics.inputTokens)),
    ...optional("outputTokens", asNumber(metrics.outputTokens)),
    ...optional("cachedTokens", asNumber(metrics.cacheReadTokens)),
    ...optional("costUsd", asNumber(metrics.cost)),
  }
}

/** Compacted messages that are not among the originals are the summary. */
function summaryOf(compacted: unknown[], messages: Json[], sessionId: string): Capture[] {
  const known = new Set(messages.flatMap(({ id, content }) => [id, textOf(content)]))
  const text = compacted
    .map((message) => asObject(message) ?? {})
    .filter((message, _, all) => isSummary(message) || !all.some(isSummary))
    .filter(({ id, role, content }) => role !== "system" && !known.has(id ?? textOf(content)))
    .map(({ content }) => textOf(content).trim())
    .filter(Boolean)
    .join("\n")
  if (text === "") return []
  const summary = { type: "turn" as const, kind: "summary" as const, text: wellFormed(text) }
  return [{ ...summary, sessionId, nativeId: makeNaming()(summary) }]
}
