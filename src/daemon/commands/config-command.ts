import { makeRedactor } from "../../capture/redact/redaction.ts"
import { configSet } from "../../operations/config.ts"
import { authorize } from "../../operations/invoke.ts"
import type { Services } from "../../operations/services.ts"
import { configFile } from "../config/config-file.ts"
import { recordCommand } from "../wiring/command-audit.ts"
import { runningDaemon } from "./connect.ts"
import type { CommandContext } from "./context.ts"

/** Through the daemon, which audits it, if one runs; otherwise here, to correct a file that keeps the daemon from starting. */
export async function changeConfig(
  { home, environment, calls, caller }: CommandContext,
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
