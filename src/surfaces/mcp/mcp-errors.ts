import * as z from "zod"

/** The required parts of a 2025 handshake; more is allowed. */
const HELLO = z.object({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  clientInfo: z.object({ name: z.string(), version: z.string() }),
})
const INVALID_PARAMS = -32_602
const SHOWN_CHARS = 60

/**
 * The answer to a handshake whose parameters are missing or wrong: the SDK would call it an error of ours, and name nothing.
 * Undefined for everything else.
 */
export function malformedHello(message: unknown) {
  const { id, method, params } = (message ?? {}) as { id?: unknown; method?: unknown; params?: unknown }
  if (method !== "initialize" || (typeof id !== "string" && typeof id !== "number")) return undefined
  const parsed = HELLO.safeParse(params)
  if (parsed.success) return undefined
  const problems = parsed.error.issues.map(({ path, code, message: why, ...rest }) => {
    const value = path.reduce<unknown>(
      (at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key],
      params,
    )
    const name = ["params", ...path].join(".")
    const kind = (rest as { expected?: string }).expected
    const wanted = code === "invalid_type" ? `must be ${kind === "string" ? "a string" : "an object"}` : why
    return value === undefined ? `${name} is missing: it ${wanted}` : `${name} ${wanted}, got ${shown(value)}`
  })
  const error = { code: INVALID_PARAMS, message: `initialize: ${problems.join("; ")}` }
  return { jsonrpc: "2.0" as const, id, error }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`
}

const INTERNAL = -32_603
const MOST_SHOWN = 5

const ISSUES = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)
const INTERNAL_ERROR = z.looseObject({
  error: z.looseObject({ code: z.literal(INTERNAL), message: z.string().startsWith("[") }),
})

/** Parameters that break the SDK's schemas are answered by it as an internal error of ours, with the list of what is wrong for a text. */
export function blamingParams<Message>(message: Message): Message {
  const found = INTERNAL_ERROR.safeParse(message)
  if (!found.success) return message
  const issues = issuesIn(found.data.error.message)
  if (issues === undefined) return message
  const problems = issues.slice(0, MOST_SHOWN).map(({ path, message: why }) => `${path.join(".")}: ${why}`)
  return { ...message, error: { code: INVALID_PARAMS, message: problems.join("; ") } }
}

function issuesIn(text: string) {
  try {
    return ISSUES.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
