import * as z from "zod"
import type { Caller } from "../../domain/caller.ts"
import { clientFrom } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { CALLER_HEADER } from "./client.ts"

const text = z.string().max(4_096)

/** Claims that a caller may make about itself; never that it is the owner, or local. */
const Claims = z.object({
  surface: z.enum(["mcp", "http", "cli"]).default("http"),
  agentPid: z.int().positive().exactOptional(),
  key: text.exactOptional(),
  nativeSession: z.object({ platform: text, id: text }).exactOptional(),
  pair: text.exactOptional(),
  client: z.object({ name: text, version: text.default("") }).exactOptional(),
  agentShell: text.min(1).exactOptional(),
  projectDir: text.exactOptional(),
  roots: z
    .array(z.object({ uri: text, name: text.exactOptional() }))
    .max(1_000)
    .exactOptional(),
  canAskRoots: z.boolean().exactOptional(),
  cwd: text.exactOptional(),
  connection: text.exactOptional(),
  idempotencyKey: text.exactOptional(),
})

export function callerFrom(header: string | undefined): Caller {
  if (header === undefined) return { surface: "http" }
  const parsed = Claims.safeParse(decoded(header))
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".")
    const what = where ? `is wrong at ${where}` : "is not an object in JSON"
    throw new Failure("bad_input", `the header ${CALLER_HEADER} ${what}`, { parameter: CALLER_HEADER })
  }
  const { client: said, ...claims } = parsed.data
  const client = clientFrom(said)
  return { ...claims, ...(client && { client }) }
}

function decoded(header: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(header))
  } catch {
    return undefined
  }
}
