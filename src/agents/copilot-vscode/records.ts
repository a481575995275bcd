import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture } from "../../domain/capture.ts"
import type { Platform, WholeReader } from "../../domain/platform.ts"
import { textIfAny } from "../../lib/untrusted-file.ts"
import { firstPrompt, sessionOf, titled, turnsAt } from "../shared/records/captures.ts"
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
import { folderIn, vscodeUserDirs } from "../shared/records/vscode.ts"
import { wholeText } from "../shared/records/whole.ts"

export const copilotVscode: Platform = {
  id: "copilot-vscode",
  label: "GitHub Copilot in VS Code",
  verified: "VS Code 1.109",
  can: { hooks: false, resume: false, times: true },
  clientNames: ["Visual Studio Code", "Visual Studio Code - Insiders"],
  places(machine) {
    const { join } = machine.os === "win32" ? win32 : posix
    const remote = join(machine.homeDir, ".vscode-server", "data", "User")
    return [...vscodeUserDirs(machine, ["Code", "Code - Insiders", "VSCodium"]), remote].flatMap((user) => [
      { dir: join(user, "workspaceStorage"), depth: 2 },
      { dir: join(user, "globalStorage", "emptyWindowChatSessions"), depth: 0 },
      { dir: join(user, "globalStorage", "transferredChatSessions"), depth: 0 },
    ])
  },
  claim({ path, relative, place }) {
    // The transcripts beside them hold the newest sessions again under other ids.
    const isSession =
      /^(?:[^/]+\/chatSessions\/)?[^/]+\.jsonl?$/.test(relative) && place.depth > 0 === relative.includes("/")
    return isSession ? { key: path, reader: sessionFile } : undefined
  },
}

/** Read whole: a later line can change any earlier one, and a long log is replaced by a snapshot. */
const sessionFile: WholeReader = {
  mode: "whole",
  async read(path) {
    const content = wholeText(path)
    const captures: Capture[] = []
    const state = path.endsWith("l") ? replay(content, captures) : asObject(JSON.parse(content))
    if (!state) throw new TypeError("no session in the file")
    captures.push(...sessionCaptures(state, basename(path).replace(/\.jsonl?$/, ""), projectOf(path)))
    return captures
  },
}

const SET = 1
const PUSH = 2
const DELETE = 3
const KINDS = new Set([SET, PUSH, DELETE])

function replay(content: string, captures: Capture[]): Json | undefined {
  let state: Json | undefined
  for (const line of content.split("\n")) {
    if (line.trim() === "") continue
    try {
      const operation = asObject(JSON.parse(line)) ?? {}
      // Written as a string by some builds.
      const kind = Number(operation.kind)
      if (kind === 0) state = asObject(operation.v)
      else if (!KINDS.has(kind)) captures.push(skipped(`operation ${operation.kind}`, true))
      else if (state) change(state, kind, operation)
    } catch {
      captures.push(skipped("unreadable line"))
    }
  }
  return state
}

function change(state: Json, kind: number, { k, v, i }: Json): void {
  const path = asArray(k).map(String)
  const last = path.pop()
  if (last === undefined || [...path, last].includes("__proto__")) return
  let at: unknown = state
  for (const key of path) at = (at as Json | undefined)?.[key]
  const target = at as Json | null | undefined
  if (typeof target !== "object" || target === null) return
  if (kind === SET) target[last] = v
  else if (kind === DELETE) delete target[last]
  else if (kind === PUSH) {
    const list = asArray(target[last])
    const keep = asNumber(i) ?? list.length
    target[last] = [...list.slice(0, keep), ...asArray(v)]
  }
}

function sessionCaptures(state: Json, fileName: string, projectPath: string | undefined): Capture[] {
  const sessionId = asString(state.sessionId) ?? fileName
  const turns = asObjects(state.requests).flatMap((request) => requestCaptures(request, sessionId))
  const prompt = firstPrompt(turns)
  if (prompt === undefined) return turns.filter(({ type }) => type === "skipped")
  const title = titled({ generated: asString(state.customTitle), prompt })
  const model = turns.flatMap((turn) => (turn.type === "turn" ? (turn.model ?? []) : [])).at(-1)
  return [sessionOf(sessionId, { projectPath, title, startedAtMs: asNumber(state.creationDate), model }), ...turns]
}

function requestCaptures(request: Json, sessionId: string): Capture[] {
  const id = asString(request.requestId)
  const removal = asObject(request.shouldBeRemovedOnSend)
  if (id === undefined) return [skipped("request without id", true)]
  if (removal && removal.afterUndoStop === undefined) return [skipped("undone")]
  const model = asString(request.modelId)
  const turn = turnsAt(sessionId, asNumber(request.timestamp))
  const text = withoutInjected(asString(request.message) ?? asString(asObject(request.message)?.text) ?? "")
  const captures: Capture[] = text.trim() === "" ? [] : [turn({ nativeId: id, kind: "prompt", text })]
  const calls = new ToolCalls(request)
  let reply: { nativeId: string; text: string } | undefined
  const endReply = () => {
    if (reply && reply.text.trim() !== "") captures.push(turn({ ...reply, kind: "reply", model }))
    reply = undefined
  }
  for (const [index, part] of asObjects(request.response).entries()) {
    const nativeId = `${id}:${index}`
    const said = saidIn(part)
    // An answer is split wherever it mentions a file.
    if (said !== undefined) reply = { nativeId: reply?.nativeId ?? nativeId, text: (reply?.text ?? "") + said }
    else if (part.kind === "thinking") {
      endReply()
      const thought =
        asString(part.value) ??
        asArray(part.value)
          .filter((value) => typeof value === "string")
          .join("")
      if (thought.trim() !== "") captures.push(turn({ nativeId, kind: "reasoning", text: thought, model }))
    } else if (part.kind === "toolInvocationSerialized" || part.kind === "toolInvocation") {
      endReply()
      const { input, output, isError, ...tool } = calls.of(part)
      captures.push(turn({ nativeId, kind: "tool_call", text: input, ...tool }))
      if (output !== undefined)
        captures.push(turn({ nativeId: `${nativeId}:result`, kind: "tool_result", text: output, ...tool, isError }))
    } else {
      const kind = asString(part.kind) ?? "response part"
      captures.push(skipped(kind, !SIDE_DATA.has(kind)))
    }
  }
  endReply()
  return captures
}

/** Other parts of an answer: progress, file edits that tools report too, references, buttons. */
const SIDE_DATA = new Set(
  `agentDetection clearToPreviousToolInvocation codeblockUri codeCitation command confirmation disabledClaudeHooks
  elicitation elicitationSerialized extensions externalEdit hook markdownVuln mcpServersStarting
  mcpServersStartingSerialized move moveMessage multiDiffData notebookEdit notebookEditGroup planReview
  prepareToolInvocation progressMessage progressTask progressTaskResult progressTaskSerialized pullRequest
  questionCarousel reference systemNotification textEdit textEditGroup treeData undoStop usedContext warning
  workspaceEdit`.split(/\s+/),
)

/** Text of the reply; undefined for parts of other kinds. */
function saidIn(part: Json): string | undefined {
  if (part.kind === undefined) return asString(part.value)
  if (part.kind === "markdownContent") return asString(asObject(part.content)?.value) ?? asString(part.content) ?? ""
  if (part.kind !== "inlineReference") return undefined
  const reference = asObject(part.inlineReference) ?? {}
  const uri = asObject(reference.uri) ?? asObject(asObject(reference.location)?.uri) ?? reference
  const name = asString(part.name) ?? asString(reference.name) ?? posix.basename(asString(uri.path) ?? "")
  return name === "" ? "" : `\`${name}\``
}

/** The reply names tool calls; their inputs and results are stored elsewhere, sometimes under another id. */
class ToolCalls {
  readonly #calls: Json[]
  readonly #results: Json
  readonly #inOrder: boolean
  #next = 0

  constructor(request: Json) {
    const metadata = asObject(asObject(request.result)?.metadata) ?? {}
    this.#calls = asObjects(metadata.toolCallRounds).flatMap(({ toolCalls }) => asObjects(toolCalls))
    this.#results = asObject(metadata.toolCallResults) ?? {}
    const shown = asObjects(request.response).filter(({ kind }) => asString(kind)?.startsWith("toolInvocation"))
    this.#inOrder = shown.length === this.#calls.length
  }

  of(part: Json) {
    const toolCallId = asString(part.toolCallId) ?? ""
    const byOrder = this.#inOrder ? this.#calls[this.#next++] : undefined
    const call = this.#calls.find(({ id }) => id === toolCallId) ?? byOrder
    const details = asObject(part.resultDetails)
    const result = asObject(this.#results[asString(call?.id) ?? toolCallId])
    const output = textIn(result?.content) || textIn(details?.output) || messageText(part.pastTenseMessage) || undefined
    return {
      toolCallId,
      toolName: asString(call?.name) ?? asString(part.toolId) ?? "",
      input:
        asString(call?.arguments) ??
        asString(details?.input) ??
        commandLine(asObject(part.toolSpecificData)) ??
        messageText(part.invocationMessage),
      output,
      isError: details?.isError === true || undefined,
    }
  }
}

function commandLine(data: Json | undefined): string | undefined {
  return asString(data?.commandLine) ?? asString(asObject(data?.commandLine)?.original) ?? asString(data?.command)
}

const messageText = (message: unknown) => asString(message) ?? asString(asObject(message)?.value) ?? ""

/** Outputs are strings, values or trees of rendered elements. */
function textIn(value: unknown): string {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.map(textIn).filter(Boolean).join("\n")
  const part = asObject(value)
  return part === undefined ? "" : (asString(part.text) ?? textIn(part.value ?? part.node ?? part.children))
}

/** A session copied to another workspace belongs to the workspace where it is found. */
function projectOf(path: string): string | undefined {
  const workspace = jsonIn(textIfAny(join(dirname(dirname(path)), "workspace.json")))
  const file = folderIn(workspace?.workspace ?? workspace?.configuration)
  return folderIn(workspace?.folder) ?? (file && dirname(file))
}
