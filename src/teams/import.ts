import { Failure } from "../domain/failure.ts"

/** Teams of another program, with the keys of our configuration. */
export interface Foreign {
  from: "Nexus chat map" | "Iris teams.json"
  teams: { name: string; keys: Record<string, unknown>; skipped: Skipped[] }[]
  /** Global settings: their names in the file, and here. */
  settings: TakenSetting[]
  /** Settings of all teams there, of each team here. */
  ofEachTeam: TakenSetting[]
  /** What is not imported. */
  skipped: Skipped[]
}

export interface TakenSetting {
  what: string
  key: string
  value: unknown
}

export interface Skipped {
  what: string
  why: string
}

/** The two formats differ in shape: Iris has `teams`, Nexus has `workdir` in each entry. */
export function readForeign(value: unknown): Foreign {
  if (!isObject(value)) throw unlike("it must hold an object")
  if (isObject(value.teams)) return iris(value.teams, value)
  const entries = Object.entries(value)
  if (entries.length === 0) throw unlike("it is empty")
  const odd = entries.find(([, entry]) => !isObject(entry) || !("workdir" in entry))
  if (odd) throw unlike(`${JSON.stringify(odd[0])} has no workdir, and there is no "teams"`)
  return nexus(value as Record<string, Record<string, unknown>>)
}

function nexus(entries: Record<string, Record<string, unknown>>): Foreign {
  const teams = Object.entries(entries).map(([name, entry]) => {
    const { workdir, chat_id, claude_md, session_file, ...rest } = entry
    const files = { ...(isSaid(claude_md) ? { claude_md } : {}), ...(isSaid(session_file) ? { session_file } : {}) }
    const chat = isSaid(chat_id) ? { chat: { id: chat_id } } : {}
    return { name, keys: { project: workdir, ...chat, ...files }, skipped: unknownKeys(rest) }
  })
  return { from: "Nexus chat map", teams, settings: [], ofEachTeam: [], skipped: [] }
}

/** Iris's settings by their names there, and their names here. */
const IRIS_SETTINGS: Readonly<Record<string, string>> = {
  maxProcesses: "settings.maxProcesses",
  healthCheckInterval: "settings.healthCheckInterval",
}
/** Global in Iris, per team here: only the imported teams get them. */
const IRIS_TEAM_DEFAULTS = ["idleTimeout"]
/** The keys of one team. */
const IRIS_TEAM_KEYS: Readonly<Record<string, string>> = {
  project: "project",
  path: "project",
  description: "description",
  skipPermissions: "skipPermissions",
  color: "color",
  idleTimeout: "idleTimeout",
  claudePath: "program",
}
/** Iris's grantPermission, by its value. `forward` has no counterpart: here, a person decides. */
const GRANTS: Readonly<Record<string, Record<string, unknown>>> = {
  yes: { skipPermissions: true },
  no: { permissionMode: "dontAsk" },
  ask: {},
}
const HTTP_PORT_WHY =
  "agents that are set up would no longer find Throughline; `throughline start --set http.port=…` changes the port"

function iris(given: Record<string, unknown>, whole: Record<string, unknown>): Foreign {
  const { teams: _, settings: __, ...others } = whole
  const settings: TakenSetting[] = []
  const ofEachTeam: TakenSetting[] = []
  const skipped = unknownKeys(others)
  if ("settings" in whole && !isObject(whole.settings)) skipped.push({ what: "settings", why: "it is not an object" })
  for (const [name, value] of Object.entries(isObject(whole.settings) ? whole.settings : {})) {
    const what = `settings.${name}`
    const key = own(IRIS_SETTINGS, name)
    if (IRIS_TEAM_DEFAULTS.includes(name)) ofEachTeam.push({ what, key: `teams.*.${name}`, value })
    else if (key !== undefined) settings.push({ what, key, value })
    else skipped.push({ what, why: name === "httpPort" ? HTTP_PORT_WHY : NO_SUCH_SETTING })
  }
  const common = Object.fromEntries(ofEachTeam.map(({ key, value }) => [key.slice("teams.*.".length), value]))
  const teams = Object.entries(given).map(irisTeam)
  return {
    from: "Iris teams.json",
    teams: teams.map((team) => ({ ...team, keys: { ...common, ...team.keys } })),
    settings,
    ofEachTeam,
    skipped,
  }
}

function irisTeam([name, entry]: [string, unknown]): Foreign["teams"][number] {
  if (!isObject(entry)) return { name, keys: {}, skipped: [{ what: name, why: "it is not an object" }] }
  const { grantPermission, ...rest } = entry
  const keys: Record<string, unknown> = {}
  const skipped: Skipped[] = []
  for (const [what, value] of Object.entries(rest)) {
    const key = own(IRIS_TEAM_KEYS, what)
    if (key === undefined) skipped.push({ what, why: NO_SUCH_SETTING })
    // `path` is the deprecated name: if both are set, `project` applies.
    else if (what !== "path" || rest.project === undefined) keys[key] = value
  }
  if (grantPermission === undefined) return { name, keys, skipped }
  const what = "grantPermission"
  const grants = own(GRANTS, String(grantPermission))
  if (!grants) skipped.push({ what, why: `Throughline has nothing like ${JSON.stringify(grantPermission)}` })
  else if ("skipPermissions" in keys) skipped.push({ what, why: "skipPermissions says it" })
  else Object.assign(keys, grants)
  return { name, keys, skipped }
}

/** Keys of a file can be anything: "constructor" must not match. */
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const NO_SUCH_SETTING = "Throughline has no such setting"

const unknownKeys = (rest: Record<string, unknown>): Skipped[] =>
  Object.keys(rest).map((what) => ({ what, why: NO_SUCH_SETTING }))

const isSaid = (value: unknown) => value !== undefined && value !== null && value !== ""

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function unlike(why: string): Failure {
  return new Failure("bad_input", `the file is neither a Nexus chat map nor an Iris teams.json: ${why}`, {
    parameter: "file",
  })
}
