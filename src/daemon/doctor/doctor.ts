import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs"
import type * as z from "zod"
import type { SystemFinding, SystemStatus } from "../../operations/services.ts"
import { type SourceView, UNFAMILIAR_REMEDY } from "../../operations/sources.ts"
import { searchState } from "../../operations/system.ts"
import type { TeamView } from "../../operations/teams.ts"
import { counted } from "../../operations/text.ts"
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

export type Finding = SystemFinding

const MANY_WAITING = 100
const LOW_DISK_BYTES = 500 * 1024 * 1024

/** Looks at everything without changing or starting anything. */
export async function examine(
  home: Home,
  environment: Environment,
  calls: Pick<DaemonCalls, "callIfRunning">,
): Promise<Finding[]> {
  const registration = await runningDaemon(home)
  const config = await configuration(home, environment, registration?.url)
  const findings = [nodeVersion(), homeFolder(home), disk(home), ...config, ...(await setup(home, environment))]
  if (!registration) {
    const telegram = await telegramFindings(home, environment, undefined)
    return [...findings, absentDaemon(home), ...telegram, ...waiting(home, 0), ...damaged(home)]
  }
  const status = (await calls.callIfRunning("status", {}, { surface: "cli" })) as unknown as SystemStatus
  // Without its database the daemon answers little more than that.
  if (status.store.trouble !== undefined)
    return [...findings, daemon(status), http(status), store(status), ...loopFindings(status), ...damaged(home)]
  const { sources } = (await calls.callIfRunning("sources", {}, { surface: "cli" })) as unknown as SourcesAnswer
  const { teams } = (await calls.callIfRunning("teams.list", {}, { surface: "cli" })) as unknown as TeamsAnswer
  return [
    ...findings,
    daemon(status),
    http(status),
    store(status),
    search(status),
    ...loopFindings(status),
    ...agents(sources),
    ...kept(teams),
    ...(await telegramFindings(home, environment, calls)),
    ...waiting(home, MANY_WAITING),
    ...damaged(home),
  ]
}

/** One line for each, and below it what to do. */
export function findingLines(findings: Finding[]): string[] {
  const mark = { good: "ok  ", warning: "warn", wrong: "FAIL" }
  const width = Math.max(...findings.map((finding) => finding.check.length))
  return findings.flatMap(({ check, state, detail, remedy }) => [
    `${mark[state]}  ${check.padEnd(width)}  ${detail}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(width + 8)}→ ${remedy}`]),
  ])
}

/** The last line of `doctor`: all good, or the first thing to do. */
export function verdict(findings: Finding[]): string {
  const first =
    findings.find((finding) => finding.state === "wrong") ?? findings.find((finding) => finding.state === "warning")
  return first ? `First: ${first.remedy ?? first.detail}` : "All good."
}

function nodeVersion(): Finding {
  return { check: "node", state: "good", detail: `${process.version} at ${process.execPath}` }
}

/** Their conversations are captured all the same; everything else needs their hooks. */
async function setup(home: Home, environment: Environment): Promise<Finding[]> {
  // The demo's agents are set up by nobody.
  if (environment.demo) return []
  const missing = await agentsNotSetUp({ home, environment })
  if (missing.length === 0) return []
  const names = missing.map(({ label, state }) => (state === "not set up" ? label : `${label} (${state})`)).join(", ")
  const detail = `not set up: ${names}; they get no session-start context, messages or tools`
  return [{ check: "setup", state: "warning", detail, remedy: "throughline setup" }]
}

function homeFolder({ dir }: Home): Finding {
  const check = "home"
  if (!existsSync(dir)) return { check, state: "good", detail: `${dir} (created at the first start)` }
  try {
    accessSync(dir, constants.W_OK)
  } catch {
    return {
      check,
      state: "wrong",
      detail: `${dir} is not writable`,
      remedy: `Make ${dir} writable: chmod u+rwx ${dir}`,
    }
  }
  const mode = statSync(dir).mode & 0o777
  if ((mode & 0o077) !== 0)
    return { check, state: "warning", detail: `${dir} is readable by others`, remedy: `chmod 700 ${dir}` }
  return { check, state: "good", detail: dir }
}

function disk({ dir }: Home): Finding {
  const folder = existsSync(dir) ? dir : "/"
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${(free / 1e9).toFixed(1)} GB free`
  return free < LOW_DISK_BYTES
    ? {
        check: "disk",
        state: "warning",
        detail,
        remedy: "Free some disk space: new messages cannot be stored when the disk is full.",
      }
    : { check: "disk", state: "good", detail }
}

function absentDaemon(home: Home): Finding {
  const registration = readRegistration(home)
  if (registration && processStart(registration.pid) === registration.processStart) {
    return {
      check: "daemon",
      state: "wrong",
      detail: `pid ${registration.pid} runs but does not answer`,
      remedy: "throughline stop --force, then throughline start",
    }
  }
  return {
    check: "daemon",
    state: "warning",
    detail: "not running",
    remedy: "throughline start (agents also start it automatically)",
  }
}

function daemon({ version, pid, startedAt, memoryMb }: SystemStatus): Finding {
  const detail = `${version}, pid ${pid}, since ${startedAt}, ${memoryMb} MB`
  return version === VERSION
    ? { check: "daemon", state: "good", detail }
    : {
        check: "daemon",
        state: "warning",
        detail: `${detail}; this program is ${VERSION}`,
        remedy: "throughline stop && throughline start",
      }
}

function http({ http: { url, trouble } }: SystemStatus): Finding {
  return trouble === undefined
    ? { check: "http", state: "good", detail: url ?? "off" }
    : {
        check: "http",
        state: "warning",
        detail: trouble,
        remedy: `Set http.port to a free port in config.json, then throughline stop && throughline start`,
      }
}

function store({ store: { kind, version, sizeBytes, place, sessions, trouble } }: SystemStatus): Finding {
  if (trouble !== undefined)
    return {
      check: "store",
      state: "wrong",
      detail: `${kind}, ${place}: ${trouble}`,
      remedy: "Nothing new can be stored until the database answers again; then everything resumes automatically.",
    }
  return {
    check: "store",
    state: "good",
    detail: `${kind} ${version}, ${(sizeBytes / 1e6).toFixed(1)} MB, ${counted(sessions, "session")}, ${place}`,
  }
}

const FAR_BEHIND = 10_000

function search({ search: state, store: { kind } }: SystemStatus): Finding {
  const { place, behind = 0, rebuilding, trouble } = state
  const found = { check: "search", detail: searchState(state) }
  const fileGone = `mv ${place} ${place}.old: the index is rebuilt from the archive and nothing is lost.`
  if (trouble !== undefined)
    return { ...found, state: "wrong", remedy: kind === "sqlite" ? fileGone : "See throughline logs for why." }
  if (rebuilding === undefined && behind <= FAR_BEHIND) return { ...found, state: "good" }
  const remedy =
    "Nothing: it is catching up, and search results say what may be missing. If it makes no progress, see throughline logs."
  return { ...found, state: "warning", remedy }
}

type SourcesAnswer = { sources: z.output<typeof SourceView>[] }

/** Every agent that was found; what could not be read is worth a look, not an alarm. */
function agents(sources: SourcesAnswer["sources"]): Finding[] {
  const found = sources.filter((source) => source.found || source.warning !== undefined)
  if (found.length === 0) {
    const detail = "no agent conversations found on this machine"
    return [{ check: "agents", state: "good", detail: `${detail} (checked for ${sources.length})` }]
  }
  return found.map(({ label, sessions, turns, lastReadAt, unreadable, unknown, troubles, warning }) => {
    const detail = `${counted(sessions, "session")}, ${counted(turns, "turn")}, last read ${lastReadAt ?? "never"}`
    const odd = [
      ...troubles.map(({ path, trouble }) => `${path}: ${trouble}`),
      ...(unreadable > 0 ? [counted(unreadable, "unreadable line")] : []),
      ...(unknown > 0 ? [`${counted(unknown, "record")} of unknown kind`] : []),
    ]
    if (warning !== undefined)
      return { check: label, state: "warning", detail: [detail, warning, ...odd].join("; "), remedy: UNFAMILIAR_REMEDY }
    if (troubles.length === 0) return { check: label, state: "good", detail: [detail, ...odd].join("; ") }
    const remedy = "See throughline logs; whatever can be read is stored, and the file is retried when it changes."
    return { check: label, state: "warning", detail: [detail, ...odd].join("; "), remedy }
  })
}

type TeamsAnswer = { teams: z.output<typeof TeamView>[] }

/** Only those that Throughline is to keep up. */
function kept(teams: TeamsAnswer["teams"]): Finding[] {
  return teams
    .filter((team) => team.kept)
    .map(({ name, state, note, attach }) => {
      const found = { check: `team ${name}`, detail: note === undefined ? state : `${state}: ${note}` }
      if (state === "given up")
        return { ...found, state: "wrong", remedy: `Fix the cause, then run throughline up ${name}` }
      if (note !== undefined || state !== "up")
        return { ...found, state: "warning", remedy: attach ?? `throughline down ${name}, if you do not need it` }
      return { ...found, state: "good" }
    })
}

/** A running daemon takes them within a second, so that few are no news. */
function waiting(home: Home, few: number): Finding[] {
  const names = existsSync(home.spool) ? readdirSync(home.spool).filter((name) => name.endsWith(".hook")) : []
  if (names.length <= few) return []
  return [
    {
      check: "hooks",
      state: "warning",
      detail: `${counted(names.length, "agent event")} waiting in ${home.spool}`,
      remedy: few === 0 ? "throughline start processes them" : "See throughline logs for what blocks them.",
    },
  ]
}

function damaged(home: Home): Finding[] {
  if (!existsSync(home.dir)) return []
  return damagedFiles(home).map((path) => ({
    check: "damage",
    state: "warning",
    detail: `a damaged database was moved to ${path}`,
    remedy: `A new database is in use. Restore what you need from ${path} (sqlite3 ${path} .recover), then delete it.`,
  }))
}
