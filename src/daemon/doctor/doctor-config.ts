import { Failure } from "../../domain/failure.ts"
import type { SystemFinding } from "../../operations/services.ts"
import { counted } from "../../operations/text.ts"
import { loadConfig, problemFailure, readConfig } from "../config/config.ts"
import { machineProblems } from "../config/config-check.ts"
import type { Environment } from "../process/environment.ts"
import type { Home } from "../process/home.ts"

const check = "config"

/** Whether the next start would accept the configuration: the same check as at a start and before a change. */
export async function configuration(
  home: Home,
  environment: Environment,
  url: string | undefined,
): Promise<SystemFinding[]> {
  const path = home.config
  try {
    const text = readConfig(path)
    const { config, settings } = loadConfig({ path, text, environment: environment.settings, flags: [] })
    const sourceOf = (key: string) =>
      settings.find((setting) => setting.key === key)?.source ?? (key.startsWith("teams.") ? path : "default")
    const problems = await machineProblems(config, { url })
    const troubles = problems.map((problem) => problemFailure(problem, sourceOf(problem.key), { path, text }).message)
    const [first] = problems
    if (first) return [{ check, state: "warning", detail: troubles.join("; "), remedy: remedy(first.key, path) }]
    const changed = settings.filter((setting) => setting.source !== "default").length
    const detail = changed === 0 ? "defaults" : `${counted(changed, "setting")} changed`
    return [{ check, state: "good", detail }, ...(config.database.url === undefined ? [] : [SEVERAL_MACHINES])]
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const running = url === undefined ? "" : " The running daemon keeps its settings until it is restarted."
    const fix = remedy(typeof error.data.key === "string" ? error.data.key : undefined, path)
    return [{ check, state: "wrong", detail: error.message, remedy: `${fix}.${running}` }]
  }
}

const SEVERAL_MACHINES: SystemFinding = {
  check: "fleet",
  state: "warning",
  detail:
    "database.url is set: several machines on one database are experimental (captures of equal paths replace each other, messages may be typed twice, the search index is shared)",
  remedy: "Use this database from one machine only. docs/fleet.md explains why.",
}

const remedy = (key: string | undefined, path: string) =>
  key === undefined || !/^[\w.]+$/.test(key) || key.startsWith("teams")
    ? `Correct it in ${path}`
    : `Correct it in ${path}, or return to the default: throughline config unset ${key}`
