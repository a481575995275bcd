import type * as z from "zod"
import { Failure } from "./failure.ts"

/** Reads what deliveries of one channel carry. */
export interface PayloadReader<T> {
  /** Keys that this version does not know stay; a payload that does not fit is refused. */
  (delivery: { payload: Record<string, unknown> }): T
  /** Where the payload does not fit; undefined where it does. */
  misfit(delivery: { payload: Record<string, unknown> }): string | undefined
}

export function payloadReader<T>(schema: z.ZodType): PayloadReader<T> {
  /** Checked once: a delivery is read many times, and its payload is replaced, never changed. */
  const known = new WeakSet<object>()
  const misfit = ({ payload }: { payload: Record<string, unknown> }) => {
    if (known.has(payload)) return undefined
    const { error } = schema.safeParse(payload)
    if (error) return error.issues[0]?.path.join(".") || "its beginning"
    known.add(payload)
    return undefined
  }
  const read = (delivery: { payload: Record<string, unknown> }) => {
    const where = misfit(delivery)
    if (where !== undefined) throw new Failure("internal", `the payload of a delivery cannot be read at ${where}`)
    return delivery.payload as T
  }
  return Object.assign(read, { misfit })
}
