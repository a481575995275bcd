import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server"
import * as z from "zod"
import type { Caller, NamedRoot } from "../../domain/caller.ts"
import { type Client, clientFrom } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import type { Call } from "../../operations/invoke.ts"
import type { Operation, ToolSet } from "../../operations/operation.ts"

/** How long to wait for roots/list, once per connection. */
const ROOTS_TIMEOUT_MS = 2_000

/** Claude Code writes answers above 50,000 characters to a file unless a limit is set; this is the highest it allows. */
const MAX_RESULT_CHARS = 500_000

const INSTRUCTIONS =
  'Throughline stores this project\'s reasoning across restarts. After a restart or compaction call init {operation:"load_context"}: no id is needed. Record steps worth keeping with thought.'

export interface McpOptions {
  operations: readonly Operation[]
  call: Call
  version: string
  /** Only these sets of tools; all if absent. */
  toolSets?: readonly ToolSet[]
}

export interface McpTools {
  list: Tool[]
  byName: Map<string, Operation>
}

/** Built once and shared by every connection and request. */
export function mcpTools({ operations, toolSets }: Pick<McpOptions, "operations" | "toolSets">): McpTools {
  const offered = operations.filter(
    (op) => op.on.includes("mcp") && op.tool && (toolSets?.includes(op.tool.set) ?? true),
  )
  return { list: offered.map(describeTool), byName: new Map(offered.map((op) => [op.name, op])) }
}

/** What a connection has reported so far. */
export interface ClientState {
  /** The client's roots, until it reports a change. */
  roots?: NamedRoot[] | undefined
}

/** A server for one connection, or one request of a 2026 client. */
export function mcpServer(options: McpOptions, tools: McpTools, baseCaller: Caller, heard: ClientState = {}): Server {
  const server = new Server(serverInfo(options), { capabilities: { tools: {} }, instructions: INSTRUCTIONS })
  server.setRequestHandler("tools/list", () => ({ tools: tools.list }))
  server.setNotificationHandler("notifications/roots/list_changed", () => {
    heard.roots = undefined
  })
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    heard.roots ??= answeredRoots(ctx)
    const client = clientFrom(toldClient(ctx) ?? server.getClientVersion())
    const caller = { ...callerOf(baseCaller, ctx, client), ...progressOf(ctx) }
    const answered = await answerTool(options, tools, params, caller, { roots: heard.roots, canAskRoots: true })
    if (answered !== ROOT_NEEDED) return answered
    if (asksInResult(ctx)) return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } })
    heard.roots = await askRoots(server, ctx)
    const again = await answerTool(options, tools, params, caller, { roots: heard.roots, canAskRoots: false })
    return again === ROOT_NEEDED ? failed(new Failure("root_needed", "the client has not named its roots")) : again
  })
  return server
}

/** Sends progress notifications if the call asks for them. */
function progressOf({ mcpReq }: ServerContext): Pick<Caller, "onProgress"> {
  const { progressToken } = (mcpReq._meta ?? {}) as { progressToken?: string | number }
  if (progressToken === undefined) return {}
  let progress = 0
  return {
    onProgress(message) {
      progress += 1
      const params = { progressToken, progress, message }
      void mcpReq.notify({ method: "notifications/progress", params }).catch(() => {})
    },
  }
}

const serverInfo = ({ version }: McpOptions) => ({ name: "throughline", title: "Throughline", version })

/** Not run: the client must be asked for its roots first. */
const ROOT_NEEDED = Symbol("root needed")

async function answerTool(
  { call }: McpOptions,
  tools: McpTools,
  { name, arguments: input }: { name: string; arguments?: Record<string, unknown> | undefined },
  caller: Caller,
  { roots, canAskRoots }: { roots: NamedRoot[] | undefined; canAskRoots: boolean },
): Promise<CallToolResult | typeof ROOT_NEEDED> {
  const op = tools.byName.get(name)
  if (!op) return failed(new Failure("unknown_operation", `there is no tool ${JSON.stringify(name)}`, { name }))
  try {
    const output = await call(op.name, input, { ...caller, canAskRoots, ...(roots === undefined ? {} : { roots }) })
    return succeeded(op, output, input)
  } catch (error) {
    const failure = Failure.from(error)
    return failure.code === "root_needed" && canAskRoots ? ROOT_NEEDED : failed(failure)
  }
}

function describeTool(op: Operation): Tool {
  return {
    name: op.name,
    description: op.summary,
    inputSchema: jsonSchema(op.input) as Tool["inputSchema"],
    outputSchema: outline(jsonSchema(op.output)),
    annotations: op.effect === "read" ? { readOnlyHint: true } : { destructiveHint: op.effect === "destroy" },
    ...(op.tool?.isBrief && !op.tool.alwaysLoad
      ? {}
      : {
          _meta: {
            ...(op.tool?.isBrief ? {} : { "anthropic/maxResultSizeChars": MAX_RESULT_CHARS }),
            ...(op.tool?.alwaysLoad ? { "anthropic/alwaysLoad": true } : {}),
          },
        }),
  }
}

/** Only names and types of an answer: every agent pays tokens for this list. */
function outline({ properties = {} }: Record<string, unknown>): NonNullable<Tool["outputSchema"]> {
  const kinds = Object.entries(properties as Record<string, { type?: unknown }>).map(([name, { type }]) => [
    name,
    type === undefined ? {} : { type },
  ])
  return { type: "object", properties: Object.fromEntries(kinds) }
}

/** The `input` mode leaves outputs open, so that older clients accept new fields. */
function jsonSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    // Date patterns are long, and every agent reads this list at every start.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      // Obvious length limits are not worth tokens; violations are rejected anyway.
      if (jsonSchema.minLength === 1) delete jsonSchema.minLength
      delete jsonSchema.maxLength
      // Zod adds it to every integer.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return rest
}

function succeeded(op: Operation, output: Record<string, unknown>, input: unknown): CallToolResult {
  return {
    content: [{ type: "text", text: op.text(output, (input ?? {}) as Record<string, unknown>) }],
    structuredContent: output,
  }
}

function failed(failure: Failure): CallToolResult {
  return {
    content: [{ type: "text", text: `${failure.code}: ${failure.message}. ${failure.kind.help}` }],
    isError: true,
  }
}

/** A 2026 client sends it with each request. */
const toldClient = (ctx: ServerContext) =>
  (ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_INFO_META_KEY]

/** The caller as this request describes it: the agent's key for the call, and Codex's session. */
function callerOf(base: Caller, { mcpReq }: ServerContext, client: Client | undefined): Caller {
  const meta = (mcpReq._meta ?? {}) as Record<string, unknown>
  const text = (key: string) => (typeof meta[key] === "string" && meta[key] !== "" ? (meta[key] as string) : undefined)
  const codexSession = text("threadId") ?? text("sessionId")
  const callId = text("callId")
  // Claude Code's ids are globally unique; Codex's depend on the model's provider.
  const toolUseId = text("claudecode/toolUseId") ?? (callId && `${codexSession ?? base.key ?? ""}:${callId}`)
  const requestKey = base.connection === undefined ? undefined : `${base.connection}:${mcpReq.id}`
  const key = toolUseId === undefined ? requestKey : `tool:${toolUseId}`
  return {
    ...base,
    ...(client === undefined ? {} : { client }),
    ...(codexSession === undefined
      ? {}
      : { key: `codex:${codexSession}`, nativeSession: { platform: "codex", id: codexSession } }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  }
}

/** A 2026 server asks in its answer, and the client calls again with the roots. */
function asksInResult(ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as { roots?: unknown } | undefined
  return capabilities?.roots !== undefined && ctx.mcpReq.inputResponses?.roots === undefined
}

function answeredRoots(ctx: ServerContext): NamedRoot[] | undefined {
  const answer = ctx.mcpReq.inputResponses?.roots
  return answer === undefined ? undefined : rootsIn(answer)
}

async function askRoots(server: Server, ctx: ServerContext): Promise<NamedRoot[]> {
  if (ctx.mcpReq.envelope !== undefined || server.getClientCapabilities()?.roots === undefined) return []
  try {
    return rootsIn(await ctx.mcpReq.send({ method: "roots/list" }, { timeout: ROOTS_TIMEOUT_MS }))
  } catch {
    return []
  }
}

function rootsIn(answer: unknown): NamedRoot[] {
  const roots = (answer as { roots?: unknown } | null)?.roots
  if (!Array.isArray(roots)) return []
  return roots.flatMap((root: { uri?: unknown; name?: unknown } | null) => {
    if (typeof root?.uri !== "string") return []
    return [{ uri: root.uri, ...(typeof root.name === "string" ? { name: root.name } : {}) }]
  })
}
