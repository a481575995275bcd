import { Failure } from "../../domain/failure.ts"
import type { SystemFinding } from "../../operations/system.ts"
import { counted } from "../../operations/text.ts"
import { loadConfig, problemFailure, readConfig } from "../config/config.ts"
import { machineProblems } from "../config/config-check.ts"
import type { Environment } from "../process/environment.ts"
import type { Home } from "../process/home.ts"
import { good, warning, wrong } from "./finding.ts"

const check = "config"

/** Whether the next start would accept the configuration. */
export async function configuration(
  home: Home,
  environment: Environment,
  url: string | undefined,
): Promise<SystemFinding[]> {
  const path = home.config
  const overridden = hiddenProblem(path, environment.settings)
  try {
    const text = readConfig(path)
    const { config, settings } = loadConfig({ path, text, environment: environment.settings, flags: [] })
    const sourceOf = (key: string) =>
      settings.find((setting) => setting.key === key)?.source ?? (key.startsWith("teams.") ? path : "default")
    const problems = await machineProblems(config, { url })
    const troubles = problems.map((problem) => problemFailure(problem, sourceOf(problem.key), { path, text }).message)
    const [first] = problems
    if (first) {
      const fix = remedy(first.key, path, sourceOf(first.key))
      return [warning(check, troubles.join("; "), fix)]
    }
    if (overridden) return [overridden]
    const changed = settings.filter((setting) => setting.source !== "default").length
    const detail = changed === 0 ? "defaults" : `${counted(changed, "setting")} changed`
    return [good(check, detail), ...(config.database.url === undefined ? [] : [SEVERAL_MACHINES])]
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const running = url === undefined ? "" : " The running daemon keeps its settings until it is restarted."
    const fix = remedyFor(error, path)
    return [wrong(check, error.message, `${fix}.${running}`)]
  }
}

/** What a variable of the environment overrides is wrong again as soon as the variable is gone. */
function hiddenProblem(path: string, environment: Record<string, string>): SystemFinding | undefined {
  if (Object.keys(environment).length === 0) return undefined
  try {
    loadConfig({ path, environment: {}, flags: [] })
    return undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const detail = `${error.message} (the environment overrides it for now)`
    return warning(check, detail, `${remedyFor(error, path)}.`)
  }
}

const SEVERAL_MACHINES: SystemFinding = warning(
  "fleet",
  "database.url is set: several machines on one database are experimental (captures of equal paths replace each other, messages may be typed twice)",
  "Use this database from one machine only. docs/fleet.md explains why.",
)

function remedyFor({ data: { key, source } }: Failure, path: string): string {
  const text = (value: unknown) => (typeof value === "string" ? value : undefined)
  return remedy(text(key), path, text(source))
}

function remedy(key: string | undefined, path: string, source: string | undefined): string {
  const inEnvironment = /^(?:the environment|environment (\S+))$/.exec(source ?? "")
  if (inEnvironment) return `Correct or unset the variable ${inEnvironment[1] ?? key}`
  return key === undefined || !/^[\w.]+$/.test(key) || key.startsWith("teams")
    ? `Correct it in ${path}`
    : `Correct it in ${path}, or return to the default: throughline config unset ${key}`
}
