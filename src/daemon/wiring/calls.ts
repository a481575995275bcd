import type { Caller, Clients } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../domain/store.ts"
import type { Call } from "../../operations/invoke.ts"
import type { Log } from "../process/log.ts"

interface Deps {
  store: Pick<Store, "runs" | "bindings">
  clients: Pick<Clients, "platformsOf">
  host: string
}

/** Remembered connections; a forgotten one is looked up again. */
const MOST_KNOWN = 1_000

/**
 * Some agents tell their MCP server nothing of the session it is in. Their hooks do, and both are children of the same
 * process: the caller is known by that session, so that it gets its own back in another process too. Decided once for
 * each connection, because such a process can be in several sessions by turns.
 */
export function knownByProcess({ store, clients, host }: Deps, call: Call): Call {
  const known = new Map<string, string>()

  const keyOf = async ({ key, client, agentPid }: Caller & { key: string; agentPid: number }) => {
    const platforms = clients.platformsOf(client?.name)
    if (platforms.length === 0) return undefined
    const run = await store.runs.at({ host, pid: agentPid })
    const own = run && platforms.includes(run.platform) ? `${run.platform}:${run.nativeId}` : undefined
    // A binding from before the agent's first hook stays.
    return (await store.bindings.get(key)) ? key : own
  }

  return async (name, input, caller) => {
    const { surface, key, nativeSession, agentPid, isRemote } = caller
    if (surface !== "mcp" || isRemote || nativeSession || agentPid === undefined || key === undefined)
      return call(name, input, caller)
    const found = known.get(key) ?? (await keyOf({ ...caller, key, agentPid }))
    if (found === undefined) return call(name, input, caller)
    known.delete(key)
    known.set(key, found)
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!)
    return call(name, input, { ...caller, key: found })
  }
}

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
