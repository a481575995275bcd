import type { z } from "zod"
import type { Caller } from "../../domain/caller.ts"
import { Failure, type FailureBody } from "../../domain/failure.ts"
import type { Call } from "../../operations/invoke.ts"
import type { Operations } from "../../operations/list.ts"

export const CALLER_HEADER = "throughline-caller"
export const TOOLS_HEADER = "throughline-tools"

/** Sends one request to the daemon: over the socket in Node, by fetch in the dashboard. */
export type Carrier = (request: {
  path: string
  body: string
  headers: Record<string, string>
}) => Promise<{ status: number; body: string }>

export function remote(carry: Carrier): Call {
  return async (name, input, caller) => {
    const { status, body } = await carry({
      path: `/api/${name}`,
      body: JSON.stringify(input ?? {}),
      headers: { "content-type": "application/json", [CALLER_HEADER]: encodeURIComponent(JSON.stringify(caller)) },
    })
    const answer = parse(body)
    if (status === 200) return answer
    throw Failure.fromBody(
      (answer.error ?? { code: "internal", message: `the daemon answered ${status}` }) as FailureBody,
    )
  }
}

/** What an operation answers. */
export type OutputOf<Name extends keyof Operations> = z.output<Operations[Name]["output"]>

export type Ask = <Name extends keyof Operations>(
  name: Name,
  input: z.input<Operations[Name]["input"]>,
) => Promise<OutputOf<Name>>

/** The typed client: names, inputs and outputs are those of the operations. */
export function client(call: Call, caller: Caller): Ask {
  return (async (name: string, input: unknown) => call(name, input, caller)) as Ask
}

function parse(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch (error) {
    throw new Failure("daemon_unreachable", "what answers is not Throughline", {}, { cause: error })
  }
}

/** Larger than any valid input, so that an input over its limit gets an error that names the parameter. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024

/** The upgrade path for an agent's stream of MCP lines. */
export const STREAM_PATH = "/mcp-stream"
