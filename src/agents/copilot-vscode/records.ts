import { basename, dirname, join, posix, win32 } from "node:path"
import { fileURLToPath } from "node:url"
import type { Capture, TurnCapture } from "../../domain/capture.ts"
import type { Platform, WholeReader } from "../../domain/platform.ts"
import { readText } from "../../lib/untrusted-file.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { asArray, asNumber, asObject, asString, type Json, skipped } from "../shared/records/jsonl.ts"
import { titleOf, wellFormed } from "../shared/records/text.ts"
import { vscodeUserDirs } from "../shared/records/vscode.ts"
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
    captures.push(...sessionCaptures(state, basename(path).replace(/\.jsonl?$/, ""), await projectOf(path)))
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
  const turns = asArray(state.requests).flatMap((request) => requestCaptures(asObject(request) ?? {}, sessionId))
  const prompt = turns.find((capture) => capture.type === "turn" && capture.kind === "prompt")
  if (prompt?.type !== "turn") return turns.filter(({ type }) => type === "skipped")
  const named = titleOf(asString(state.customTitle) ?? "")
  const title = named ?? titleOf(prompt.text)
  const startedAtMs = asNumber(state.creationDate)
  const model = turns.findLast((capture) => capture.type === "turn" && capture.model !== undefined)
  return [
    {
      type: "session",
      sessionId,
      ...(projectPath !== undefined && { projectPath }),
      ...(title !== undefined && { title: { text: title, from: named === undefined ? "prompt" : "generated" } }),
      ...(startedAtMs !== undefined && { startedAtMs }),
      ...(model?.type === "turn" && model.model !== undefined && { model: model.model }),
    },
    ...turns,
  ]
}

function requestCaptures(request: Json, sessionId: string): Capture[] {
  const id = asString(request.requestId)
  const removal = asObject(request.shouldBeRemovedOnSend)
  if (id === undefined) return [{ type: "skipped", kind: "request without id", unknown: true }]
  if (removal && removal.afterUndoStop === undefined) return [{ type: "skipped", kind: "undone" }]
  const atMs = asNumber(request.timestamp)
  const model = asString(request.modelId)
  const turn = (part: Pick<TurnCapture, "nativeId" | "kind" | "text"> & Partial<TurnCapture>): TurnCapture => ({
    type: "turn",
    sessionId,
    ...(atMs !== undefined && { atMs }),
    ...(model !== undefined && (part.kind === "reply" || part.kind === "reasoning") && { model }),
    ...part,
    text: wellFormed(part.text),
  })
  const text = withoutInjected(asString(request.message) ?? asString(asObject(request.message)?.text) ?? "")
  const captures: Capture[] = text.trim() === "" ? [] : [turn({ nativeId: id, kind: "prompt", text })]
  const calls = new ToolCalls(request)
  let reply: { nativeId: string; text: string } | undefined
  const endReply = () => {
    if (reply && reply.text.trim() !== "") captures.push(turn({ ...reply, kind: "reply" }))
    reply = undefined
  }
  for (const [index, item] of asArray(request.response).entries()) {
    const part = asObject(item) ?? {}
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
      if (thought.trim() !== "") captures.push(turn({ nativeId, kind: "reasoning", text: thought }))
    } else if (part.kind === "toolInvocationSerialized" || part.kind === "toolInvocation") {
      endReply()
      const call = calls.of(part)
      const { toolName, toolCallId } = call
      captures.push(turn({ nativeId, kind: "tool_call", text: call.input, toolName, toolCallId }))
      if (call.output !== undefined)
        captures.push(
          turn({
            nativeId: `${nativeId}:result`,
            kind: "tool_result",
            text: call.output,
            toolName,
            toolCallId,
            ...call.failed,
          }),
        )
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
    this.#calls = asArray(metadata.toolCallRounds).flatMap((round) =>
      asArray(asObject(round)?.toolCalls).map((call) => asObject(call) ?? {}),
    )
    this.#results = asObject(metadata.toolCallResults) ?? {}
    const shown = asArray(request.response).filter((part) =>
      asString(asObject(part)?.kind)?.startsWith("toolInvocation"),
    )
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
      failed: details?.isError === true ? { isError: true } : {},
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
async function projectOf(path: string): Promise<string | undefined> {
  try {
    const workspace = asObject(JSON.parse(readText(join(dirname(dirname(path)), "workspace.json"))))
    const folder = asString(workspace?.folder)
    const file = asString(workspace?.workspace) ?? asString(workspace?.configuration)
    return folder ? fileURLToPath(folder) : file ? dirname(fileURLToPath(file)) : undefined
  } catch {
    return undefined
  }
}
