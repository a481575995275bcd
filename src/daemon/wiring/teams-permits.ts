import { hostname } from "node:os"
import type { HookIntake } from "../../capture/store/intake.ts"
import { redactorOf } from "../../capture/watch/rules.ts"
import { askerOf, askOf } from "../../domain/pair.ts"
import { makePermits, type Permits } from "../../permissions/permits.ts"
import type { TeamsDeps } from "../../teams/module.ts"
import type { CommonParts } from "./parts.ts"

/** The permission flow of this daemon. Requests from before its start have no one waiting for them any more. */
export async function openPermits(parts: Omit<CommonParts, "roster" | "clients" | "machine">): Promise<Permits> {
  const { store, clock, config, home, log } = parts
  const permits = makePermits({
    store,
    clock,
    settings: config.permissions,
    home: `${hostname()}:${home.dir}`,
    redact: redactorOf(config.capture),
    onTrouble: (err, what) => log.error({ err, what }, "a permission could not be asked for"),
  })
  await permits.leaveDead()
  return permits
}

/** Approval requests of pairs' agents. Registers a session that capture has not seen yet, so messengers have a topic for it. */
export function permitFor(
  permits: Permits,
  { store, roster, meet }: { meet: HookIntake["meet"] } & Pick<CommonParts, "store" | "roster">,
): TeamsDeps["permit"] {
  const sessionOf = async (platform: string, nativeId: string, team: string) => {
    const known = await store.sessions.byNative(platform, nativeId)
    const cwd = roster.byName(team)?.projectDir
    if (known || cwd === undefined || !(await meet({ platform, nativeId, cwd }))) return known
    return store.sessions.byNative(platform, nativeId)
  }
  return async (request, { pair, team, nativeId, messageId, canUpdateInput }, signal) => {
    const session = await sessionOf(pair.platform, nativeId, team).catch(() => undefined)
    const asked = messageId === undefined ? undefined : await store.deliveries.byKey(messageId).catch(() => undefined)
    const asker = askerOf(asked ? askOf(asked) : { ...pair, sender: "nobody in particular" })
    return permits.permit(request, { asker, team, sessionId: session?.id ?? null, canUpdateInput }, signal)
  }
}
