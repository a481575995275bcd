import { Failure } from "../../domain/failure.ts"
import type { Call } from "../../operations/invoke.ts"
import type { Log } from "./log.ts"

/** Anything but a Failure is a bug, and is logged in full. */
export function reporting(call: Call, log: Log): Call {
  return async (name, input, caller) => {
    try {
      return await call(name, input, caller)
    } catch (error) {
      const failure = Failure.from(error)
      if (failure.code === "internal")
        log.error({ operation: name, err: failure.cause ?? failure }, "an operation failed in a way it should not")
      else log.debug({ operation: name, code: failure.code }, failure.message)
      throw failure
    }
  }
}
