import { Failure } from "../domain/failure.ts"

/** Teams of another program, as they would stand in the configuration. */
export interface Foreign {
  from: "Nexus chat map" | "Iris teams.json"
  teams: { name: string; keys: Record<string, unknown>; skipped: Skipped[] }[]
  /** Settings that are not a team's. */
  skipped: Skipped[]
}

export interface Skipped {
  what: string
  why: string
}

/** Told apart by their shape: Iris has `teams`, Nexus has `workdir` in each. */
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
  return { from: "Nexus chat map", teams, skipped: [] }
}

const IRIS_KEYS = ["description", "skipPermissions", "color", "idleTimeout"]

function iris(given: Record<string, unknown>, whole: Record<string, unknown>): Foreign {
  const { idleTimeout, ...settings } = isObject(whole.settings) ? whole.settings : {}
  const { teams: _, settings: __, ...others } = whole
  const teams = Object.entries(given).map(([name, entry]) => {
    if (!isObject(entry)) return { name, keys: {}, skipped: [{ what: name, why: "it is not an object" }] }
    const { project, path, ...rest } = entry
    const taken = Object.entries(rest).filter(([key]) => IRIS_KEYS.includes(key))
    // Iris has one for all teams, and lets each have its own.
    const common = idleTimeout === undefined ? {} : { idleTimeout }
    const keys = { project: project ?? path, ...common, ...Object.fromEntries(taken) }
    const left = Object.fromEntries(Object.entries(rest).filter(([key]) => !IRIS_KEYS.includes(key)))
    return { name, keys, skipped: unknownKeys(left) }
  })
  const skipped = [
    ...unknownKeys(Object.fromEntries(Object.entries(settings).map(([key, value]) => [`settings.${key}`, value]))),
    ...unknownKeys(others),
  ]
  return { from: "Iris teams.json", teams, skipped }
}

const unknownKeys = (rest: Record<string, unknown>): Skipped[] =>
  Object.keys(rest).map((what) => ({ what, why: "Throughline has no such setting" }))

const isSaid = (value: unknown) => value !== undefined && value !== null && value !== ""

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function unlike(why: string): Failure {
  return new Failure("bad_input", `the file is neither a Nexus chat map nor an Iris teams.json: ${why}`, {
    parameter: "file",
  })
}
