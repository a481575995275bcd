import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture, SessionCapture, TurnCapture } from "../../domain/capture.ts"
import type { LinesReader, Platform } from "../../domain/platform.ts"
import { defined } from "../../lib/defined.ts"
import { textIfAny } from "../../lib/untrusted-file.ts"
import { sessionOf, titled, turnsAt } from "../shared/records/captures.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { asNumber, asObject, asObjects, asString, type Json, parseLine, skipped } from "../shared/records/jsonl.ts"
import { timeOf } from "../shared/records/text.ts"

export const copilotCli: Platform = {
  id: "copilot-cli",
  label: "GitHub Copilot CLI",
  verified: "1.0.14",
  can: { hooks: true, resume: true, times: true },
  clientNames: ["github-copilot-developer"],
  places({ os, homeDir, env }) {
    const { join } = os === "win32" ? win32 : posix
    const homes = [env.COPILOT_HOME || join(homeDir, ".copilot")]
    if (env.XDG_STATE_HOME) homes.push(join(env.XDG_STATE_HOME, ".copilot"))
    return homes.map((home) => ({ dir: join(home, "session-state"), depth: 1 }))
  },
  claim({ path, relative }) {
    // Early versions had a file per session instead of a folder.
    return /^[^/]+(\/events)?\.jsonl$/.test(relative) ? { key: path, reader: events } : undefined
  },
  resume: ({ nativeId, projectPath }) => ({ argv: ["copilot", "--resume", nativeId.split("/")[0]!], cwd: projectPath }),
}

type State = {
  session: SessionCapture
  /** Held back until the first turn: empty sessions are common. */
  spoken: boolean
  titled: boolean
  /** Sub-agents with turns. They write to the same file; each is its own session here. */
  agents: string[]
  /** Names of sub-agents, by their id and by the call that started them. */
  agentNames: Record<string, string>
  /** Names of tools with a pending call. */
  calls: Record<string, string>
}

const events: LinesReader = {
  mode: "lines",
  begin(path): State {
    const inFolder = basename(path) === "events.jsonl"
    const sessionId = inFolder ? basename(dirname(path)) : basename(path, ".jsonl")
    const workspace = inFolder ? workspaceOf(join(dirname(path), "workspace.yaml")) : {}
    const session = sessionOf(sessionId, workspace)
    return { session, spoken: false, titled: false, agents: [], agentNames: {}, calls: {} }
  },
  line(line, state) {
    const event = parseLine(line)
    const data = asObject(event.data)
    const id = asString(event.id)
    const type = asString(event.type) ?? "event"
    if (!data || id === undefined) return [skipped(type, true)]
    return eventCaptures({ id, type, data, event }, state as State)
  },
}

interface Event {
  id: string
  type: string
  data: Json
  event: Json
}

function eventCaptures({ id, type, data, event }: Event, state: State): Capture[] {
  const speaker = asString(event.agentId) ?? asString(data.parentToolCallId)
  const sessionId = speaker === undefined ? state.session.sessionId : `${state.session.sessionId}/${speaker}`
  const atMs = timeOf(event.timestamp)
  const turn = turnsAt(sessionId, atMs)
  const spoken = (turns: TurnCapture[]) =>
    turns.length === 0 ? [] : [...introduce(turns[0]!, speaker, state), ...turns]
  const call = (nativeId: string, toolCallId: string, toolName: string, input: unknown) => {
    state.calls[toolCallId] = toolName
    return turn({ nativeId, kind: "tool_call", text: JSON.stringify(input ?? {}), toolName, toolCallId })
  }
  const toolCallId = asString(data.toolCallId) ?? ""

  switch (type) {
    case "session.start":
    case "session.resume":
    case "session.context_changed":
    case "session.model_change":
    case "session.title_changed":
      return describe(type, data, state)
    case "subagent.started":
      for (const name of [speaker, toolCallId])
        if (name) state.agentNames[name] = asString(data.agentDisplayName) ?? asString(data.agentName) ?? ""
      return []
    case "user.message": {
      const source = asString(data.source) ?? ""
      const text = withoutInjected(asString(data.content) ?? "")
      if (source.startsWith("skill-") || data.isAutopilotContinuation === true) return [skipped("injected message")]
      return text.trim() === "" ? [] : spoken([turn({ nativeId: id, kind: "prompt", text })])
    }
    case "assistant.message": {
      const model = asString(data.model)
      const outputTokens = asNumber(data.outputTokens)
      const reasoning = asString(data.reasoningText) ?? ""
      const text = asString(data.content) ?? ""
      const turns = [
        ...(reasoning.trim() === "" ? [] : [turn({ nativeId: `${id}:reasoning`, kind: "reasoning", text: reasoning })]),
        ...(text.trim() === "" ? [] : [turn({ nativeId: id, kind: "reply", text })]),
        ...asObjects(data.toolRequests).flatMap((request) => {
          const called = asString(request.toolCallId)
          if (called === undefined) return []
          return [call(`${id}:call:${called}`, called, asString(request.name) ?? "", request.arguments)]
        }),
      ]
      const counted = turns.find(({ kind }) => kind !== "reasoning") ?? turns[0]
      if (counted && outputTokens !== undefined) counted.usage = { outputTokens }
      return spoken(turns.map((each) => (model === undefined ? each : { ...each, model })))
    }
    case "tool.execution_start":
      // Otherwise the message before requested it.
      if (toolCallId === "" || state.calls[toolCallId] !== undefined) return []
      return spoken([call(`${id}:call:${toolCallId}`, toolCallId, asString(data.toolName) ?? "", data.arguments)])
    case "tool.execution_complete": {
      const toolName = state.calls[toolCallId] ?? ""
      delete state.calls[toolCallId]
      const failed = data.success === false
      const text = asString(asObject(failed ? data.error : data.result)?.[failed ? "message" : "content"]) ?? ""
      const isError = failed || undefined
      return spoken([turn({ nativeId: id, kind: "tool_result", text, toolName, toolCallId, isError })])
    }
    case "session.compaction_complete": {
      const summary = asString(data.summaryContent) ?? ""
      return summary === "" ? [skipped(type)] : spoken([turn({ nativeId: id, kind: "summary", text: summary })])
    }
    case "session.context_cleared":
      return spoken([turn({ nativeId: id, kind: "reset", text: "Context cleared" })])
    case "session.snapshot_rewind":
      return [{ type: "rewind", sessionId: state.session.sessionId, fromNativeId: asString(data.upToEventId) ?? null }]
    default:
      return [skipped(type, !FAMILIES.test(type))]
  }
}

const FAMILIES =
  /^(session|assistant|model|tool|tool_search|skill|subagent|hook|system|permission|user_input|elicitation|mcp|command|abort)(\.|$)/

/** The session captures that must precede its first turn. */
function introduce(first: TurnCapture, speaker: string | undefined, state: State): SessionCapture[] {
  const found: SessionCapture[] = state.spoken ? [] : [{ ...state.session }]
  state.spoken = true
  if (speaker !== undefined && !state.agents.includes(speaker)) {
    state.agents.push(speaker)
    const { projectPath, sessionId } = state.session
    const title = titled({ generated: state.agentNames[speaker] })
    found.push(sessionOf(first.sessionId, { parent: { sessionId, kind: "subagent" }, projectPath, title }))
  }
  if (speaker === undefined && first.kind === "prompt" && !state.titled) {
    const title = titled({ prompt: first.text })
    state.titled = title !== undefined
    if (title) found.push(sessionOf(first.sessionId, { title }))
  }
  return found
}

function describe(type: string, data: Json, state: State): SessionCapture[] {
  const { sessionId } = state.session
  const isStart = type === "session.start"
  const context = type === "session.context_changed" ? data : asObject(data.context)
  const parent = asString(data.detachedFromSpawningParentSessionId)
  const found = sessionOf(sessionId, {
    projectPath: isStart ? asString(context?.cwd) : undefined,
    gitBranch: asString(context?.branch),
    model: asString(data.selectedModel) ?? asString(data.newModel),
    agentVersion: asString(data.copilotVersion),
    startedAtMs: isStart ? timeOf(data.startTime) : undefined,
    title: type === "session.title_changed" ? titled({ generated: asString(data.title) }) : undefined,
    parent: parent === undefined ? undefined : { sessionId: parent, kind: "subagent" },
  })
  if (state.spoken) return [found]
  state.session = { ...state.session, ...found }
  return []
}

/** Plain `key: value` lines; no nested values are needed. */
function workspaceOf(path: string): Partial<SessionCapture> {
  const lines = (textIfAny(path) ?? "").split(/\r?\n/)
  const values = new Map(
    lines.flatMap((line) => {
      const [, key, value] = /^(\w+):\s*(.*?)\s*$/.exec(line) ?? []
      return key && value ? [[key, value.replace(/^(["'])(.*)\1$/, "$2")] as const] : []
    }),
  )
  const title = titled({ generated: values.get("name") })
  return defined({ projectPath: values.get("cwd"), gitBranch: values.get("branch"), title })
}
