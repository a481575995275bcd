import { type CallToolResult, RELATED_TASK_META_KEY, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server"
import type { Caller } from "../domain/caller.ts"
import {
  answerTool,
  callerOf,
  envelopeText,
  type Heard,
  type McpOptions,
  type McpTools,
  progressOf,
  ROOT_NEEDED,
  serverInfo,
} from "./mcp.ts"

export interface QuickOptions {
  options: McpOptions
  tools: McpTools
  caller: Caller
  heard: Heard
  /** Takes an answer as it goes over the wire. */
  send(line: string): void
  /** Takes a call that turned out to need more of the protocol. Nothing was done for it. */
  giveBack(message: unknown): void
}

/**
 * Answers the calls that are nothing but a tool's name and its arguments, letter by letter as the SDK would. Its way
 * through the protocol costs more than the call itself. False: the message is for the SDK, as the first call of each
 * connection is, because it knows what was agreed. See docs/adr/0013.
 */
export function quickCalls({ options, tools, caller, heard, send, giveBack }: QuickOptions) {
  const running = new Set<RequestId>()
  const stamp = { resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: serverInfo(options) } }

  const answer = async (call: PlainCall) => {
    const { id, params } = call
    const isModern = heard.envelope !== ""
    const known = { roots: heard.roots, canAskRoots: true }
    const onProgress = progressOf(params._meta, (notification) => {
      if (running.has(id)) send(`${JSON.stringify({ ...notification, jsonrpc: "2.0" })}\n`)
    })
    const asker = { ...callerOf(caller, { id, _meta: params._meta }, heard), ...onProgress }
    const result = await answerTool(options, tools, params, asker, known)
    // One that was cancelled meanwhile is not answered.
    if (!running.delete(id)) return
    if (result === ROOT_NEEDED) giveBack(call)
    else send(line(id, isModern ? { ...result, ...stamp } : result))
  }

  return (message: unknown): boolean => {
    // Whoever introduces itself anew may be another.
    if (isObject(message) && message.method === "initialize") delete heard.envelope
    const call = message as PlainCall
    if (isPlain(call, heard) && !running.has(call.id)) {
      running.add(call.id)
      void answer(call)
      return true
    }
    if (isCancellation(message)) running.delete(message.params.requestId)
    return false
  }
}

type RequestId = string | number

interface PlainCall {
  jsonrpc: "2.0"
  id: RequestId
  method: "tools/call"
  params: { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> }
}

/** A tool's name, its arguments, a key or two, and an envelope that the SDK has let through before. */
function isPlain(message: unknown, { envelope }: Heard): message is PlainCall {
  if (envelope === undefined || !isObject(message) || message.method !== "tools/call") return false
  const { jsonrpc, id, params } = message
  if (jsonrpc !== "2.0" || !isId(id) || !isObject(params) || !hasOnly(message, REQUEST)) return false
  const { name, arguments: input, _meta: meta } = params
  if (typeof name !== "string" || !hasOnly(params, PARAMS)) return false
  // The SDK drops this one name from what it passes on.
  if (input !== undefined && (!isObject(input) || Object.hasOwn(input, "__proto__"))) return false
  if (meta === undefined) return envelope === ""
  if (!isObject(meta) || meta[RELATED_TASK_META_KEY] !== undefined) return false
  return (meta.progressToken === undefined || isId(meta.progressToken)) && envelopeText(meta) === envelope
}

const REQUEST = ["jsonrpc", "id", "method", "params"]
const PARAMS = ["name", "arguments", "_meta"]

function hasOnly(object: Record<string, unknown>, names: readonly string[]): boolean {
  for (const name in object) if (!names.includes(name)) return false
  return true
}

function isCancellation(message: unknown): message is { params: { requestId: RequestId } } {
  return isObject(message) && message.method === "notifications/cancelled" && isObject(message.params)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isId = (value: unknown): value is RequestId => typeof value === "string" || Number.isSafeInteger(value)

function line(id: RequestId, result: CallToolResult): string {
  return `${JSON.stringify({ result, jsonrpc: "2.0", id })}\n`
}
