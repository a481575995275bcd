import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture, TurnCapture } from "../../../domain/capture.ts"
import type { Platform, WholeReader } from "../../../domain/platform.ts"
import type { Usage } from "../../../domain/turn.ts"
import { sleep } from "../../../lib/clock.ts"
import { defined } from "../../../lib/defined.ts"
import { makeNaming, turnsOfTaggedMessage, withToolNames } from "./anthropic.ts"
import { firstPrompt, sessionOf, titled, turnsAt } from "./captures.ts"
import { asNumber, asObject, asObjects, asString, type Json, jsonIn, skipped } from "./jsonl.ts"
import { textOf } from "./text.ts"
import { extensionDirs } from "./vscode.ts"
import { wholeText } from "./whole.ts"

/** Roo Code and its forks, which differ in names only. */
export function rooLike({
  extension,
  ...named
}: Pick<Platform, "id" | "label" | "verified"> & { extension: string }): Platform {
  return {
    ...named,
    can: { hooks: false, resume: false, times: true },
    clientNames: [named.label],
    places(machine) {
      const { join } = machine.os === "win32" ? win32 : posix
      return extensionDirs(machine, extension).map((dir) => ({ dir: join(dir, "tasks"), depth: 1 }))
    },
    claim({ path, relative }) {
      const folder = dirname(path)
      const files = [...taskFiles(folder), join(folder, "history_item.json")]
      return TASK_FILE.test(relative) ? { key: folder, files, reader: task } : undefined
    },
  }
}

const task: WholeReader = {
  mode: "whole",
  async read(path) {
    const folder = dirname(path)
    const about = await aboutTask(folder)
    const parent = asString(about.parentTaskId)
    return taskCaptures(folder, asString(about.task), ({ projectPath, model }) => ({
      projectPath: asString(about.workspace) || projectPath,
      model,
      parent: parent ? { sessionId: parent, kind: "subagent" } : undefined,
    }))
  },
}

/** A task's turns, after what its own list and its messages say about it. */
export async function taskCaptures(
  folder: string,
  named: string | undefined,
  describe: (task: Task) => Parameters<typeof sessionOf>[1],
): Promise<Capture[]> {
  const task = await readTask(folder)
  const { turns, skipped, startedAtMs } = task
  if (turns.length === 0) return skipped
  const title = titled({ prompt: named }) ?? titled({ prompt: firstPrompt(turns) })
  return [sessionOf(basename(folder), { title, startedAtMs, ...describe(task) }), ...turns, ...skipped]
}

/** The task's own file, or the list of all tasks for tasks older than that file. */
async function aboutTask(folder: string): Promise<Json> {
  const own = asObject(await jsonAt(join(folder, "history_item.json")).catch(() => undefined))
  if (own) return own
  const list = asObject(await jsonAt(join(dirname(folder), "_index.json")).catch(() => undefined))
  const entries = asObjects(Object.values(list?.entries ?? {}))
  return entries.find(({ id }) => id === basename(folder)) ?? {}
}

/** Files of Cline's original store, also used by Cline's reader. */
export const TASK_FILE = /^[^/]+\/(?:api_conversation_history|ui_messages|claude_messages)\.json$/

export function taskFiles(folder: string): string[] {
  return ["api_conversation_history.json", "ui_messages.json", "claude_messages.json"].map((name) => join(folder, name))
}

interface Task {
  turns: TurnCapture[]
  skipped: Capture[]
  projectPath: string | undefined
  model: string | undefined
  startedAtMs: number | undefined
}

/** A task of the original store: the messages to the model, with the times of the displayed ones. */
async function readTask(folder: string): Promise<Task> {
  const sessionId = basename(folder)
  const [api, ui, veryOld] = taskFiles(folder) as [string, string, string]
  const shown = asObjects((await jsonAt(ui).catch(absent)) ?? (await jsonAt(veryOld).catch(absent))).filter(
    ({ partial }) => partial !== true,
  )
  const messages = asObjects(await jsonWithRetry(api))
  const captures = messages.length > 0 ? sentTurns(messages, shown, sessionId) : shownTurns(shown, sessionId)
  if (!messages.some(({ isSummary }) => isSummary === true)) captures.push(...shownSummaries(shown, sessionId))
  const turns = captures.filter((capture) => capture.type === "turn")
  const model = shown.findLast(({ modelInfo }) => asObject(modelInfo)?.modelId !== undefined)
  return {
    turns,
    skipped: captures.filter((capture) => capture.type === "skipped"),
    projectPath: folderNamedIn(messages),
    model: asString(asObject(model?.modelInfo)?.modelId),
    startedAtMs: startOf(sessionId) ?? turns[0]?.atMs,
  }
}

function sentTurns(messages: Json[], shown: Json[], sessionId: string): Capture[] {
  const nameOf = makeNaming()
  const timeAt = timesOf(shown, startOf(sessionId))
  const captures = messages.flatMap((message, index) => {
    if (message.isTruncationMarker === true) return [skipped("truncation marker")]
    const atMs = asNumber(message.ts) ?? timeAt(index, message.role)
    const info = asObject(message.modelInfo)
    const model = message.role === "assistant" ? (asString(info?.modelId) ?? asString(info?.id)) : undefined
    const usage = message.role === "assistant" ? usageIn(asObject(message.metrics)) : undefined
    const thinking = message.reasoning_content ?? message.text ?? textOf(message.summary)
    const found = [
      ...turnsOfTaggedMessage("assistant", [{ type: "thinking", thinking }]),
      ...turnsOfTaggedMessage(message.role, message.content),
    ]
    const last = found.findLast(({ type }) => type === "turn")
    if (usage && last?.type === "turn") last.usage = usage
    return found.map((turn): Capture => {
      if (turn.type === "skipped") return turn
      const kind = message.isSummary === true && turn.kind !== "reasoning" ? "summary" : turn.kind
      const named = { ...turn, kind, sessionId, nativeId: nameOf({ ...turn, kind }) }
      return { ...named, ...defined({ atMs, model }) }
    })
  })
  return withToolNames(captures)
}

function usageIn(metrics: Json | undefined): Usage | undefined {
  const tokens = asObject(metrics?.tokens)
  if (!metrics || !tokens) return undefined
  const [inputTokens, outputTokens, cachedTokens] = [tokens.prompt, tokens.completion, tokens.cached].map(asNumber)
  return defined({ inputTokens, outputTokens, cachedTokens, costUsd: asNumber(metrics.cost) })
}

function shownSummaries(shown: Json[], sessionId: string): Capture[] {
  return shown.flatMap((message): Capture[] => {
    const [text, at] = [asString(asObject(message.contextCondense)?.summary), asNumber(message.ts)]
    if (!text || at === undefined) return []
    return [turnsAt(sessionId, at)({ nativeId: `condense:${at}`, kind: "summary", text })]
  })
}

/** Displayed messages name their place in the history; an answer is complete with its last displayed message. */
function timesOf(shown: Json[], startedAtMs: number | undefined): (index: number, role: unknown) => number | undefined {
  const spans = new Map<number, { first: number; last: number }>()
  for (const { ts, conversationHistoryIndex } of shown) {
    const [at, index] = [asNumber(ts), asNumber(conversationHistoryIndex)]
    if (at === undefined || index === undefined) continue
    const span = spans.get(index) ?? { first: at, last: at }
    spans.set(index, { first: Math.min(span.first, at), last: Math.max(span.last, at) })
  }
  let latest = 0
  return (index, role) => {
    const span = role === "assistant" ? spans.get(index - 1)?.last : spans.get(index)?.first
    const atMs = index === 0 ? (startedAtMs ?? span) : (span ?? spans.get(index)?.first)
    if (atMs !== undefined) latest = Math.max(latest, atMs)
    return latest === 0 ? undefined : latest
  }
}

const SHOWN: Record<string, TurnCapture["kind"]> = {
  task: "prompt",
  user_feedback: "prompt",
  text: "reply",
  completion_result: "reply",
  followup: "reply",
  reasoning: "reasoning",
  tool: "tool_call",
  command: "tool_call",
  use_mcp_server: "tool_call",
  command_output: "tool_result",
  mcp_server_response: "tool_result",
}

/** For tasks of which only the displayed messages are left. */
function shownTurns(shown: Json[], sessionId: string): Capture[] {
  let isFirst = true
  return shown.flatMap((message): Capture[] => {
    const what = asString(message.say) ?? asString(message.ask) ?? "message"
    const [text, at] = [asString(message.text) ?? "", asNumber(message.ts)]
    const kind = isFirst && what === "text" ? "prompt" : SHOWN[what]
    if (kind === undefined || at === undefined) return [skipped(`shown ${what}`)]
    if (text.trim() === "") return []
    isFirst = false
    const tool = kind === "tool_call" ? { toolName: asString(jsonIn(text)?.tool) ?? what } : {}
    return [turnsAt(sessionId, at)({ nativeId: `shown:${at}:${what}`, kind, text, ...tool })]
  })
}

/** The editor's state in the first message names the folder. */
function folderNamedIn(messages: Json[]): string | undefined {
  const first = JSON.stringify(messages[0]?.content ?? "")
  return /# Current (?:Working|Workspace) Directory \(([^)"]+?)\)/.exec(first)?.[1]
}

/** Task ids are their start time. */
function startOf(id: string): number | undefined {
  return /^1\d{12}$/.test(id) ? Number(id) : undefined
}

export async function jsonAt(path: string): Promise<unknown> {
  return JSON.parse(wholeText(path))
}

export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error
}

/** A file that is being rewritten is missing for an instant: retry before treating it as absent. */
async function jsonWithRetry(path: string): Promise<unknown> {
  for (const pauseMs of [30, 120]) {
    const value = await jsonAt(path).catch(absent)
    if (value !== undefined) return value
    await sleep(pauseMs)
  }
  return jsonAt(path).catch(absent)
}
