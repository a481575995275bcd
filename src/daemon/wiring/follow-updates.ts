import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { sleep } from "../../lib/clock.ts"
import { defined } from "../../lib/defined.ts"
import { visible } from "../../operations/columns.ts"
import type { Call } from "../../operations/invoke.ts"
import { updateLine } from "../../operations/updates.ts"
import type { OutputOf } from "../../surfaces/http/client.ts"

const ASK_MS = 500

/** Prints a team's updates as they arrive. Survives a daemon restart, as the cursor does. */
export async function followUpdates(request: {
  call: Call
  caller: Caller
  input: Record<string, unknown>
  json: boolean
}): Promise<never> {
  const { call, caller, json } = request
  const { target, since, limit } = request.input
  let from = since
  for (let isFirst = true; ; isFirst = false) {
    const page = (await call("pull_updates", defined({ target, since: from, limit }), caller).catch(
      (error: unknown) => {
        if (isFirst || !Failure.from(error).kind.retry) throw error
        return undefined
      },
    )) as OutputOf<"pull_updates"> | undefined
    for (const update of page?.updates ?? [])
      process.stdout.write(`${json ? JSON.stringify(update) : visible(updateLine(update))}\n`)
    from = page?.next_since ?? from
    if (!page?.has_more) await sleep(ASK_MS)
  }
}
