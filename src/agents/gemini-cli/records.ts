import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture, SessionCapture, TurnCapture } from "../../domain/capture.ts"
import type { LinesReader, Platform, WholeReader } from "../../domain/platform.ts"
import type { Usage } from "../../domain/turn.ts"
import { defined } from "../../lib/defined.ts"
import { textIfAny } from "../../lib/untrusted-file.ts"
import { type MakeTurn, sessionOf, titled, turnsAt } from "../shared/records/captures.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import {
  asArray,
  asNumber,
  asObject,
  asObjects,
  asString,
  type Json,
  jsonIn,
  parseLine,
  skipped,
} from "../shared/records/jsonl.ts"
import { timeOf } from "../shared/records/text.ts"
import { wholeText } from "../shared/records/whole.ts"

export const geminiCli: Platform = {
  id: "gemini-cli",
  label: "Gemini CLI",
  verified: "0.61.0",
  can: { hooks: true, resume: true, times: true },
  clientNames: ["gemini-cli-mcp-client", "gemini-cli-mcp-client-*"],
  places({ os, homeDir, env }) {
    const { join } = os === "win32" ? win32 : posix
    return [{ dir: join(env.GEMINI_CLI_HOME || homeDir, ".gemini", "tmp"), depth: 3 }]
  },
  claim({ path, relative }) {
    const { parent, name } = LAYOUT.exec(relative)?.groups ?? {}
    if (!name || (parent === undefined && !name.startsWith("session-"))) return undefined
    if (name.endsWith("l")) return { key: path, reader: operations(parent) }
    // Resuming moved it into a log beside it, which may have rewound some of this.
    return existsSync(`${path}l`) ? undefined : { key: `${path}l`, reader: rewritten }
  },
  resume: ({ nativeId, projectPath }) => ({ argv: ["gemini", "--resume", nativeId], cwd: projectPath }),
}

/** A sub-agent's file is in a folder named after its parent session. */
const LAYOUT = /^[^/]+\/chats\/(?:(?<parent>[^/]+)\/)?(?<name>[^/]+\.jsonl?)$/

/** The end of a compaction's summary. */
const SNAPSHOT = /<\/state_snapshot>\s*$/

type State = {
  projectPath: string | null
  sessionId: string | null
  /** Held back until the first turn: each resume leaves a file with only a header. */
  waiting: SessionCapture | null
  titled: boolean
  model: string | null
  /** The current conversation: each message's id and first turn, null without one. */
  messages: [id: string, firstTurn: string | null][]
}

function operations(parent: string | undefined): LinesReader {
  return {
    mode: "lines",
    begin: (path) => begin(projectOf(path)),
    line: (line, state) => apply(parseLine(line), state as State, parent),
  }
}

/** Before 2026: one object, rewritten each time. Resuming writes a log with the same ids: another form of one source. */
const rewritten: WholeReader = {
  mode: "whole",
  async read(path) {
    const record = asObject(JSON.parse(wholeText(path)))
    if (!record) throw new TypeError("not an object")
    return apply(record, begin(projectOf(path)), undefined)
  },
}

function begin(projectPath: string | null): State {
  return { projectPath, sessionId: null, waiting: null, titled: false, model: null, messages: [] }
}

function apply(record: Json, state: State, parent: string | undefined): Capture[] {
  const rewindTo = asString(record.$rewindTo)
  if (rewindTo !== undefined) return rewind(rewindTo, state)
  if (typeof record.id === "string") return message(record, state)
  const set = asObject(record.$set)
  if (set) {
    const known = typeof set.sessionId === "string" || typeof set.summary === "string"
    return [...(known ? session(set, state, parent) : []), ...checkpoint(set.messages, state)]
  }
  if (typeof record.sessionId !== "string") return [skipped("record", true)]
  return [...session(record, state, parent), ...asObjects(record.messages).flatMap((item) => message(item, state))]
}

function session(record: Json, state: State, parent: string | undefined): SessionCapture[] {
  state.sessionId = asString(record.sessionId) ?? state.sessionId
  if (state.sessionId === null) return []
  const speaks = state.messages.some((entry) => entry[1] !== null)
  const found = sessionOf(state.sessionId, {
    projectPath: state.projectPath ?? asString(asArray(record.directories)[0]),
    startedAtMs: speaks ? undefined : timeOf(record.startTime),
    title: titled({ summary: asString(record.summary) }),
    parent: parent === undefined ? undefined : { sessionId: parent, kind: "subagent" },
  })
  const capture: SessionCapture = { ...state.waiting, ...found }
  if (speaks) return [capture]
  state.waiting = capture
  return []
}

/** A repeated id replaces the message: its turns are captured again, and the later text wins. */
function message(record: Json, state: State): Capture[] {
  const id = asString(record.id)
  if (id === undefined) return [skipped("message", true)]
  if (state.sessionId === null) throw new Error("a message before its session")
  const captures = turnsOf(record, id, state.sessionId)
  const first = captures.find((capture) => capture.type === "turn")
  const known = state.messages.find((entry) => entry[0] === id)
  if (known) known[1] ??= first?.nativeId ?? null
  else state.messages.push([id, first?.nativeId ?? null])
  if (!first) return captures
  const before: Capture[] = state.waiting ? [state.waiting] : []
  state.waiting = null
  const title = !state.titled && first.kind === "prompt" ? titled({ prompt: first.text }) : undefined
  state.titled ||= title !== undefined
  if (title) before.push(sessionOf(state.sessionId, { title }))
  if (first.model !== undefined && first.model !== state.model)
    before.push(sessionOf(state.sessionId, { model: first.model }))
  state.model = first.model ?? state.model
  return [...before, ...captures]
}

function rewind(id: string, state: State): Capture[] {
  if (state.sessionId === null) return []
  const index = state.messages.findIndex((entry) => entry[0] === id)
  const taken = state.messages.splice(Math.max(index, 0))
  const from = taken.find((entry) => entry[1] !== null)?.[1]
  if (from === undefined) return []
  return [{ type: "rewind", sessionId: state.sessionId, fromNativeId: index < 0 ? null : from }]
}

/**
 * The whole conversation as the model sees it from now on. Known messages are not read again: here they lack times, thoughts
 * and tokens, and long outputs are truncated.
 */
function checkpoint(value: unknown, state: State): Capture[] {
  if (value === undefined || state.sessionId === null) return []
  const messages = asObjects(value)
  const ids = new Set(messages.map(({ id }) => id))
  const known = new Set(state.messages.map((entry) => entry[0]))
  const added = messages.filter(({ id }) => !known.has(String(id)))
  const snapshot = added.find((record) => record.type === "user" && SNAPSHOT.test(textOf(record.content)))
  if (snapshot) {
    // A compaction copies the end of the conversation under new ids. Nothing was rewound.
    for (const { id } of added) if (id !== snapshot.id) state.messages.push([String(id), null])
    return message(snapshot, state)
  }
  // Every start writes a checkpoint with only context before the one with the resumed conversation.
  const speaks = messages.some(({ id, ...record }) => turnsOf(record, "", "").some(({ type }) => type === "turn"))
  if (!speaks) return added.flatMap((record) => message(record, state))
  const gone = state.messages.findIndex(([id, first]) => first !== null && !ids.has(id))
  if (gone < 0) return added.flatMap((record) => message(record, state))
  const [goneId] = state.messages[gone]!
  const kept = new Set(state.messages.slice(0, gone).map((entry) => entry[0]))
  return [
    ...rewind(goneId, state),
    ...messages.filter(({ id }) => !kept.has(String(id))).flatMap((record) => message(record, state)),
  ]
}

function turnsOf(record: Json, id: string, sessionId: string): (Capture & { type: "turn" | "skipped" })[] {
  const type = asString(record.type) ?? "message"
  const turn = turnsAt(sessionId, timeOf(record.timestamp))
  if (type === "user") {
    const text = saidIn(record.displayContent) || saidIn(record.content)
    // A tool's result: it is read from its call.
    if (text.trim() === "") return [skipped(textOf(record.content).trim() === "" ? "user without text" : "context")]
    return [turn({ nativeId: id, kind: SNAPSHOT.test(text) ? "summary" : "prompt", text })]
  }
  if (type !== "gemini") return [skipped(type, !["info", "warning", "error"].includes(type))]
  const model = asString(record.model)
  const said = textOf(record.content)
  const turns: TurnCapture[] = thoughtsOf(record).map(({ text, atMs }, index) =>
    turn({ nativeId: `${id}:thought:${index}`, kind: "reasoning", text, atMs }),
  )
  if (said.trim() !== "") turns.push(turn({ nativeId: id, kind: "reply", text: said }))
  for (const call of asObjects(record.toolCalls)) turns.push(...callTurns(call, id, turn))
  const usage = usageOf(asObject(record.tokens))
  const counted = turns.find(({ kind }) => kind === "reply") ?? turns.find(({ kind }) => kind === "tool_call")
  if (counted && usage) counted.usage = usage
  return model === undefined ? turns : turns.map((each) => (each.kind === "tool_result" ? each : { ...each, model }))
}

function callTurns(call: Json, id: string, turn: MakeTurn): TurnCapture[] {
  const callId = asString(call.id) ?? ""
  const status = asString(call.status)
  const common = { toolName: asString(call.name) ?? "", toolCallId: callId, atMs: timeOf(call.timestamp) }
  const asked = turn({
    nativeId: `${id}:call:${callId}`,
    kind: "tool_call",
    text: jsonText(call.args ?? {}),
    ...common,
  })
  const answer = resultText(call.result)
  const failed = status === "error" || status === "cancelled"
  if (answer === undefined && !failed) return [asked]
  const result = { nativeId: `${id}:result:${callId}`, kind: "tool_result", text: answer ?? `(${status})` } as const
  return [asked, turn({ ...result, ...common, isError: failed || undefined })]
}

function resultText(result: unknown): string | undefined {
  if (result === undefined || result === null) return undefined
  if (typeof result === "string") return result
  const texts = (Array.isArray(result) ? result : [result]).map((item) => {
    const response = asObject(asObject(asObject(item)?.functionResponse)?.response)
    if (response) return asString(response.output) ?? asString(response.error) ?? jsonText(response)
    return typeof item === "string" ? item : asString(asObject(item)?.text)
  })
  return texts.filter((text) => text !== undefined).join("\n")
}

function thoughtsOf(record: Json): { text: string; atMs: number | undefined }[] {
  const thoughts = asObjects(record.thoughts)
  if (thoughts.length > 0)
    return thoughts.map(({ subject, description, timestamp }) => ({
      text: [asString(subject), asString(description)].filter(Boolean).join("\n"),
      atMs: timeOf(timestamp),
    }))
  const parts = asObjects(record.content)
  return parts.flatMap(({ thought, text }) =>
    thought === true && typeof text === "string" ? [{ text, atMs: undefined }] : [],
  )
}

/** Text of a string, a part or a list of parts; thoughts, calls and results are read elsewhere. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content
  if (Array.isArray(content)) return content.map(textOf).join("")
  const part = asObject(content)
  return part && part.thought !== true ? (asString(part.text) ?? "") : ""
}

/** Part by part: a hook's text is in its own part, or before the prompt in the same part. */
function saidIn(content: unknown): string {
  return Array.isArray(content) ? content.map(saidIn).join("") : withoutInjected(textOf(content))
}

function usageOf(tokens: Json | undefined): Usage | undefined {
  const [input, output, cachedTokens] = [tokens?.input, tokens?.output, tokens?.cached].map(asNumber)
  if (input === undefined || output === undefined) return undefined
  const outputTokens = output + (asNumber(tokens?.thoughts) ?? 0)
  // `input` includes cached tokens.
  return defined({ inputTokens: input - (cachedTokens ?? 0), outputTokens, cachedTokens })
}

/** From a file in the folder, or from the registry; older folders are named by a hash of the path. */
function projectOf(path: string): string | null {
  const folder = /^(.*[\\/]tmp[\\/][^\\/]+)[\\/]chats[\\/]/.exec(path)?.[1] ?? dirname(dirname(path))
  const named = textIfAny(join(folder, ".project_root"))?.trim()
  if (named) return named
  const registry = textIfAny(join(dirname(dirname(folder)), "projects.json"), { links: "own" })
  const projects = Object.entries(asObject(jsonIn(registry)?.projects) ?? {})
  const id = basename(folder)
  return projects.find(([root, name]) => name === id || sha256(root) === id)?.[0] ?? null
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const jsonText = (value: unknown) => JSON.stringify(value) ?? ""
