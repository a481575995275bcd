import * as z from "zod"
import type { Caller } from "../domain/caller.ts"
import { clientFrom } from "../domain/clients.ts"
import { Failure } from "../domain/failure.ts"
import { CALLER_HEADER } from "./client.ts"

const text = z.string().max(4_096)

/** What a caller may say of itself. Whether it is the owner, or remote, is not for it to say. */
const Claims = z.object({
  surface: z.enum(["mcp", "http", "cli"]).default("http"),
  key: text.optional(),
  nativeSession: z.object({ platform: text, id: text }).optional(),
  agentPid: z.int().positive().optional(),
  pair: text.optional(),
  client: z
    .object({ name: text, version: text.default("") })
    .transform(clientFrom)
    .optional(),
  agentShell: text.min(1).optional(),
  projectDir: text.optional(),
  roots: z
    .array(z.object({ uri: text, name: text.optional() }))
    .max(1_000)
    .optional(),
  canAskRoots: z.boolean().optional(),
  cwd: text.optional(),
  connection: text.optional(),
  idempotencyKey: text.optional(),
})

export function callerFrom(header: string | undefined): Caller {
  if (header === undefined) return { surface: "http" }
  const parsed = Claims.safeParse(decoded(header))
  if (parsed.success) return defined(parsed.data)
  const where = parsed.error.issues[0]?.path.join(".")
  const what = where ? `is wrong at ${where}` : "is not an object in JSON"
  throw new Failure("bad_input", `the header ${CALLER_HEADER} ${what}`, { parameter: CALLER_HEADER })
}

function decoded(header: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(header))
  } catch {
    return undefined
  }
}

/** Absent and undefined are the same to us, and not to the types. */
function defined(claims: z.output<typeof Claims>): Caller {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)) as unknown as Caller
}
