import type * as z from "zod"
import { Failure } from "./failure.ts"

/** Reads what a delivery carries. Keys that this version does not know stay; what does not fit is refused, with its place. */
export function payloadReader<T>(schema: z.ZodType<T>) {
  return ({ payload }: { payload: Record<string, unknown> }): T => {
    const read = schema.safeParse(payload)
    if (read.success) return read.data
    const where = read.error.issues[0]?.path.join(".") || "its beginning"
    throw new Failure("internal", `the payload of a delivery cannot be read at ${where}`)
  }
}
