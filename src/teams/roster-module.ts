import { resolve } from "node:path"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { Team } from "../domain/team.ts"
import { readForeign, type Skipped, type TakenSetting } from "./import.ts"
import type { ReloadingRoster, TeamSetting } from "./roster.ts"

/** The teams, and how they are added, removed and imported. */
export interface RosterModule {
  roster: ReloadingRoster
  add(caller: Caller, name: string, keys: TeamKeys, request: { replace: boolean }): Team
  remove(name: string): void
  take(caller: Caller, file: string, request: { replace: boolean }): Imported
}

/** As in the configuration; unset keys are absent. */
export type TeamKeys = Record<string, unknown> & { project: string }

export interface Imported {
  from: string
  added: string[]
  replaced: string[]
  /** By their names in the file, and here. Those that are not a team's apply from the daemon's next start. */
  settings: TakenSetting[]
  skipped: Skipped[]
}

/** The configuration's file. */
export interface TeamsFile {
  /** Throws if the file is invalid; then it must not be changed either. */
  read(): Record<string, TeamSetting>
  /** The parsed keys, or what is wrong with them. */
  check(name: string, keys: Record<string, unknown>): TeamSetting | { wrong: string }
  /** A setting's value in the file; undefined if unset. */
  setting(key: string): unknown
  /** The reason why a value is invalid for a setting. */
  checkSetting(key: string, value: unknown): string | undefined
  /** Keeps everything else in the file, including comments. */
  change(change: {
    set?: Record<string, Record<string, unknown>>
    remove?: string[]
    settings?: Record<string, unknown>
  }): void
  /** Parses another JSON file. */
  parse(path: string): unknown
}

export function makeRosterModule({ roster, file }: { roster: ReloadingRoster; file: TeamsFile }): RosterModule {
  const checked = (name: string, keys: Record<string, unknown>): string | undefined => {
    const setting = file.check(name, keys)
    if ("wrong" in setting) return setting.wrong
    const folder = roster.folder(setting.project)
    return "why" in folder ? `project = ${JSON.stringify(setting.project)}: ${folder.why}` : undefined
  }

  const refusedSetting = (key: string, value: unknown, replace: boolean): string | undefined => {
    const before = file.setting(key)
    if (before !== undefined && before !== value && !replace)
      return `${key} is ${JSON.stringify(before)} already; --replace takes its place`
    return file.checkSetting(key, value)
  }

  return {
    roster,
    add(caller, name, keys, { replace }) {
      const whole = { ...keys, project: resolve(caller.cwd ?? "/", keys.project) }
      const wrong = checked(name, whole)
      if (wrong !== undefined) throw badInput(wrong, "project")
      if (!replace && name in file.read())
        throw badInput(`there is a team ${JSON.stringify(name)} already; --replace takes its place`, "name")
      file.change({ set: { [name]: whole } })
      roster.reload()
      return roster.byName(name)!
    },
    remove(name) {
      const known = Object.keys(file.read())
      if (!known.includes(name))
        throw badInput(`there is no team ${JSON.stringify(name)} (known: ${known.join(", ") || "none"})`, "name")
      file.change({ remove: [name] })
      roster.reload()
    },
    take(caller, path, { replace }) {
      const before = file.read()
      const foreign = readForeign(file.parse(resolve(caller.cwd ?? "/", path)))
      const { from, teams, settings: given, ofEachTeam, skipped } = foreign
      const set: Record<string, Record<string, unknown>> = {}
      const all = [...skipped]
      for (const { name, keys, skipped } of teams) {
        all.push(...skipped.map(({ what, why }) => ({ what: `${name}.${what}`, why })))
        const why =
          name in before && !replace ? "there is a team of this name; --replace takes its place" : checked(name, keys)
        if (why === undefined) set[name] = keys
        else all.push({ what: name, why })
      }
      const settings = given.filter(({ what, key, value }) => {
        const why = refusedSetting(key, value, replace)
        if (why !== undefined) all.push({ what, why })
        return why === undefined
      })
      if (Object.keys(set).length + settings.length > 0)
        file.change({ set, settings: Object.fromEntries(settings.map(({ key, value }) => [key, value])) })
      roster.reload()
      const [replaced, added] = [Object.keys(set).filter((name) => name in before), Object.keys(set)]
      const taken = [...(Object.keys(set).length > 0 ? ofEachTeam : []), ...settings]
      return { from, added: added.filter((name) => !replaced.includes(name)), replaced, settings: taken, skipped: all }
    },
  }
}

const badInput = (message: string, parameter: string) => new Failure("bad_input", message, { parameter })
