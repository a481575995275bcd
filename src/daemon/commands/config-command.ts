import { makeRedactor } from "../../capture/redact/redaction.ts"
import type { Caller } from "../../domain/caller.ts"
import { authorize } from "../../operations/caller.ts"
import { configSet } from "../../operations/config.ts"
import type { Services } from "../../operations/services.ts"
import { configFile } from "../config/config-file.ts"
import type { Environment } from "../process/environment.ts"
import type { Home } from "../process/home.ts"
import { recordCommand } from "../wiring/command-audit.ts"
import { type DaemonCalls, runningDaemon } from "./connect.ts"

interface Context {
  home: Home
  environment: Environment
  calls: Pick<DaemonCalls, "callIfRunning">
  caller: Caller
}

/** Through the daemon, which audits it, if one runs; else here, so that a file that keeps it from starting can be corrected. */
export async function changeConfig(
  { home, environment, calls, caller }: Context,
  key: string,
  value: string,
): Promise<{ key: string; isSet: boolean }> {
  if (await runningDaemon(home))
    return (await calls.callIfRunning("config.set", { key, value }, caller)) as { key: string; isSet: boolean }
  authorize(configSet, caller)
  recordCommand({ home, environment }, "config.set", { key: makeRedactor()(key), isSet: value !== "" })
  const config = configFile({ path: home.config, environment: environment.settings, flags: [] })
  return configSet.run({ system: { config } } as Services, { key, value }, caller)
}
