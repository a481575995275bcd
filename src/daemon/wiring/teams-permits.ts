import { hostname } from "node:os"
import type { HookIntake } from "../../capture/store/intake.ts"
import { redactorOf } from "../../capture/watch/rules.ts"
import { askerOf, askOf } from "../../domain/pair.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import type { Clock } from "../../lib/clock.ts"
import { makePermits, type Permits } from "../../permissions/permits.ts"
import type { TeamsDeps } from "../../teams/module.ts"
import type { Config } from "../config/settings.ts"
import type { Home } from "../process/home.ts"
import type { Log } from "../process/log.ts"

/** The permission flow of this daemon. Requests from before its start have no one waiting for them any more. */
export async function openPermits({ store, clock, config, home, log }: PermitsParts): Promise<Permits> {
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

interface PermitsParts {
  store: Store
  clock: Clock
  config: Config
  home: Home
  log: Log
}

/** Approval requests of pairs' agents. Registers a session that capture has not seen yet, so messengers have a topic for it. */
export function permitFor(
  permits: Permits,
  { store, roster, meet }: { store: Store; roster: Pick<Roster, "byName">; meet: HookIntake["meet"] },
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
