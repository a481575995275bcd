import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs"
import { UNFAMILIAR_REMEDY } from "../../operations/sources.ts"
import type { SystemFinding, SystemStatus } from "../../operations/system.ts"
import { searchState } from "../../operations/system.ts"
import { counted } from "../../operations/text.ts"
import { client, type OutputOf } from "../../surfaces/http/client.ts"
import { type DaemonCalls, runningDaemon } from "../commands/connect.ts"
import { agentsNotSetUp } from "../commands/setup-commands.ts"
import type { Environment } from "../process/environment.ts"
import { damagedFiles, type Home } from "../process/home.ts"
import { processStart } from "../process/process-identity.ts"
import { VERSION } from "../version.ts"
import { readRegistration } from "../wiring/registration.ts"
import { configuration } from "./doctor-config.ts"
import { loopFindings } from "./doctor-loops.ts"
import { telegramFindings } from "./doctor-telegram.ts"
import { good, warning, wrong } from "./finding.ts"

const MANY_WAITING = 100
const LOW_DISK_BYTES = 500 * 1024 * 1024

/** Runs every check; changes and starts nothing. */
export async function examine(
  home: Home,
  environment: Environment,
  calls: Pick<DaemonCalls, "callIfRunning">,
): Promise<SystemFinding[]> {
  const registration = await runningDaemon(home)
  const config = await configuration(home, environment, registration?.url)
  const findings = [nodeVersion(), homeFolder(home), disk(home), ...config, ...(await setup(home, environment))]
  if (!registration) {
    const telegram = await telegramFindings(home, environment, undefined)
    return [...findings, absentDaemon(home), ...telegram, ...waiting(home, 0), ...damaged(home)]
  }
  const ask = client(calls.callIfRunning, { surface: "cli" })
  const status = await ask("status", {})
  // Without its database the daemon answers little else.
  if (status.store.trouble !== undefined)
    return [...findings, daemon(status), http(status), store(status), ...loopFindings(status), ...damaged(home)]
  const { sources } = await ask("sources", {})
  const { teams } = await ask("teams.list", {})
  return [
    ...findings,
    daemon(status),
    http(status),
    store(status),
    search(status),
    ...loopFindings(status),
    ...agents(sources),
    ...supervised(teams),
    ...(await telegramFindings(home, environment, calls)),
    ...waiting(home, MANY_WAITING),
    ...damaged(home),
  ]
}

/** One line per finding, with its remedy below. */
export function findingLines(findings: SystemFinding[]): string[] {
  const mark = { good: "ok  ", warning: "warn", wrong: "FAIL" }
  const width = Math.max(...findings.map((finding) => finding.check.length))
  return findings.flatMap(({ check, state, detail, remedy }) => [
    `${mark[state]}  ${check.padEnd(width)}  ${detail}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(width + 8)}→ ${remedy}`]),
  ])
}

/** The last line of `doctor`: all good, or what to do first. */
export function verdict(findings: SystemFinding[]): string {
  const first =
    findings.find((finding) => finding.state === "wrong") ?? findings.find((finding) => finding.state === "warning")
  return first ? `First: ${first.remedy ?? first.detail}` : "All good."
}

function nodeVersion(): SystemFinding {
  return good("node", `${process.version} at ${process.execPath}`)
}

/** Without setup conversations are still captured; everything else needs the hooks. */
async function setup(home: Home, environment: Environment): Promise<SystemFinding[]> {
  // The demo's agents are not set up.
  if (environment.demo) return []
  const missing = await agentsNotSetUp({ home, environment })
  if (missing.length === 0) return []
  const names = missing.map(({ label, state }) => (state === "not set up" ? label : `${label} (${state})`)).join(", ")
  const detail = `not set up: ${names}; they get no session-start context, messages or tools`
  return [warning("setup", detail, "throughline setup")]
}

function homeFolder({ dir }: Home): SystemFinding {
  const check = "home"
  if (!existsSync(dir)) return good(check, `${dir} (created at the first start)`)
  try {
    accessSync(dir, constants.W_OK)
  } catch {
    return wrong(check, `${dir} is not writable`, `Make ${dir} writable: chmod u+rwx ${dir}`)
  }
  const mode = statSync(dir).mode & 0o777
  if ((mode & 0o077) !== 0) return warning(check, `${dir} is readable by others`, `chmod 700 ${dir}`)
  return good(check, dir)
}

function disk({ dir }: Home): SystemFinding {
  const folder = existsSync(dir) ? dir : "/"
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${(free / 1e9).toFixed(1)} GB free`
  return free < LOW_DISK_BYTES
    ? warning("disk", detail, "Free some disk space: new messages cannot be stored when the disk is full.")
    : good("disk", detail)
}

function absentDaemon(home: Home): SystemFinding {
  const registration = readRegistration(home)
  if (registration && processStart(registration.pid) === registration.processStart) {
    return wrong(
      "daemon",
      `pid ${registration.pid} runs but does not answer`,
      "throughline stop --force, then throughline start",
    )
  }
  return warning("daemon", "not running", "throughline start (agents also start it automatically)")
}

function daemon({ version, pid, startedAt, memoryMb }: SystemStatus): SystemFinding {
  const detail = `${version}, pid ${pid}, since ${startedAt}, ${memoryMb} MB`
  return version === VERSION
    ? good("daemon", detail)
    : warning("daemon", `${detail}; this program is ${VERSION}`, "throughline stop && throughline start")
}

function http({ http: { url, trouble } }: SystemStatus): SystemFinding {
  return trouble === undefined
    ? good("http", url ?? "off")
    : warning(
        "http",
        trouble,
        `Set http.port to a free port in config.json, then throughline stop && throughline start`,
      )
}

function store({ store: { kind, version, sizeBytes, place, sessions, trouble } }: SystemStatus): SystemFinding {
  if (trouble !== undefined)
    return wrong(
      "store",
      `${kind}, ${place}: ${trouble}`,
      "Nothing new can be stored until the database answers again; then everything resumes automatically.",
    )
  return good(
    "store",
    `${kind} ${version}, ${(sizeBytes / 1e6).toFixed(1)} MB, ${counted(sessions, "session")}, ${place}`,
  )
}

const FAR_BEHIND = 10_000

function search({ search: state, store: { kind } }: SystemStatus): SystemFinding {
  const { place, behind = 0, rebuilding, trouble } = state
  const detail = searchState(state)
  const fileGone = `mv ${place} ${place}.old: the index is rebuilt from the archive and nothing is lost.`
  if (trouble !== undefined)
    return wrong("search", detail, kind === "sqlite" ? fileGone : "See throughline logs for why.")
  if (rebuilding === undefined && behind <= FAR_BEHIND) return good("search", detail)
  const remedy =
    "Nothing: it is catching up, and search results say what may be missing. If it makes no progress, see throughline logs."
  return warning("search", detail, remedy)
}

/** Every agent found. Unreadable records are a warning, not an error. */
function agents(sources: OutputOf<"sources">["sources"]): SystemFinding[] {
  const found = sources.filter((source) => source.found || source.warning !== undefined)
  if (found.length === 0) {
    const detail = "no agent conversations found on this machine"
    return [good("agents", `${detail} (checked for ${sources.length})`)]
  }
  return found.map(({ label, sessions, turns, lastReadAt, unreadable, unknown, troubles, warning: odd }) => {
    const detail = `${counted(sessions, "session")}, ${counted(turns, "turn")}, last read ${lastReadAt ?? "never"}`
    const details = [
      detail,
      ...(odd === undefined ? [] : [odd]),
      ...troubles.map(({ path, trouble }) => `${path}: ${trouble}`),
      ...(unreadable > 0 ? [counted(unreadable, "unreadable line")] : []),
      ...(unknown > 0 ? [`${counted(unknown, "record")} of unknown kind`] : []),
    ]
    if (odd !== undefined) return warning(label, details.join("; "), UNFAMILIAR_REMEDY)
    if (troubles.length === 0) return good(label, details.join("; "))
    const remedy = "See throughline logs; whatever can be read is stored, and the file is retried when it changes."
    return warning(label, details.join("; "), remedy)
  })
}

/** Supervised teams only. */
function supervised(teams: OutputOf<"teams.list">["teams"]): SystemFinding[] {
  return teams
    .filter((team) => team.kept)
    .map(({ name, state, note, attach }) => {
      const [check, detail] = [`team ${name}`, note === undefined ? state : `${state}: ${note}`]
      if (state === "given up") return wrong(check, detail, `Fix the cause, then run throughline up ${name}`)
      if (note !== undefined || state !== "up")
        return warning(check, detail, attach ?? `throughline down ${name}, if you do not need it`)
      return good(check, detail)
    })
}

/** Spooled hooks. A running daemon takes them within a second, so a few are normal. */
function waiting(home: Home, few: number): SystemFinding[] {
  const names = existsSync(home.spool) ? readdirSync(home.spool).filter((name) => name.endsWith(".hook")) : []
  if (names.length <= few) return []
  return [
    warning(
      "hooks",
      `${counted(names.length, "agent event")} waiting in ${home.spool}`,
      few === 0 ? "throughline start processes them" : "See throughline logs for what blocks them.",
    ),
  ]
}

function damaged(home: Home): SystemFinding[] {
  if (!existsSync(home.dir)) return []
  return damagedFiles(home).map((path) =>
    warning(
      "damage",
      `a damaged database was moved to ${path}`,
      `A new database is in use. Restore what you need from ${path} (sqlite3 ${path} .recover), then delete it.`,
    ),
  )
}
