import { accessSync, constants, realpathSync } from "node:fs"
import { Failure } from "../domain/failure.ts"
import type { Roster, Team } from "../domain/team.ts"
import { isReadableFile, kindOf } from "../lib/untrusted-file.ts"

/** A team as the configuration has it. */
export interface TeamSetting {
  project: string
  description: string
  platform: string
  program?: string | undefined
  skipPermissions: boolean
  permissionMode: string
  whenAway: Team["whenAway"]
  color?: string | undefined
  chat?: Team["chat"] | undefined
  claude_md?: string | undefined
  settings?: string | undefined
  session_file?: string | undefined
  taskStateFile: boolean
  idleTimeout?: number | undefined
}

export interface ReloadingRoster extends Roster {
  /** Reads the configuration again. A broken one changes no team. */
  reload(): void
  /** Problems of the current configuration, as sentences. */
  troubles(): string[]
  /** The real path of a folder in which a team may work, or the reason against it. */
  folder(path: string): { path: string } | NoFolder
}

export interface RosterDeps {
  /** Throws if the configuration is invalid. */
  read(): Record<string, TeamSetting>
  /** The only folders that may contain projects; empty allows all. */
  readAllowed?(): readonly string[]
}

export function makeRoster({ read, readAllowed = () => [] }: RosterDeps): ReloadingRoster {
  let teams: readonly Team[] = []
  let troubles: string[] = []
  const listeners = new Set<() => void>()

  const reload = () => {
    const found = resolved({ read, readAllowed }, teams)
    troubles = found.troubles
    if (JSON.stringify(found.teams) === JSON.stringify(teams)) return
    teams = Object.freeze(found.teams)
    for (const listener of listeners) listener()
  }
  reload()

  return {
    reload,
    troubles: () => troubles,
    folder: (path) => allowedFolder(path, readAllowed()),
    list: () => teams,
    byName: (name) => teams.find((team) => team.name === name),
    at(dir) {
      const real = realOr(dir)
      return teams
        .filter(({ projectDir }) => isIn(real, projectDir))
        .toSorted((a, b) => b.projectDir.length - a.projectDir.length)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function resolved(
  { read, readAllowed }: Required<RosterDeps>,
  before: readonly Team[],
): { teams: readonly Team[]; troubles: string[] } {
  let settings: Record<string, TeamSetting>
  let allowed: readonly string[]
  try {
    settings = read()
    allowed = readAllowed()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return {
      teams: before,
      troubles: [`The configuration is broken, and the teams stay as they were: ${error.message}`],
    }
  }
  const teams: Team[] = []
  const troubles = allowed.flatMap((dir) => {
    const folder = realFolder(dir)
    return "why" in folder ? [`${ALLOWED} = ${JSON.stringify(dir)}: ${folder.why}, and no team may work in it`] : []
  })
  for (const [name, setting] of Object.entries(settings)) {
    const key = (of: string) => `teams.${name}.${of}`
    const folder = allowedFolder(setting.project, allowed)
    const known = before.find((team) => team.name === name)
    if ("why" in folder) {
      troubles.push(`${key("project")} = ${JSON.stringify(setting.project)}: ${folder.why}`)
      // An unmounted disk must not remove the team: its messages would be lost.
      if (known && folder.isAway) teams.push(known)
      continue
    }
    for (const field of ["claude_md", "settings"] as const) {
      const file = setting[field]
      if (file !== undefined && !isReadableFile(file))
        troubles.push(`${key(field)} = ${JSON.stringify(file)}: there is no such file, or it cannot be read`)
    }
    teams.push(teamOf(name, folder.path, setting))
  }
  return { teams, troubles }
}

function teamOf(name: string, projectDir: string, setting: TeamSetting): Team {
  const { description, platform, skipPermissions, permissionMode, whenAway, taskStateFile } = setting
  return {
    ...{ name, projectDir, description, platform, skipPermissions, permissionMode, whenAway, taskStateFile },
    program: setting.program ?? null,
    instructionsFile: setting.claude_md ?? null,
    settingsFile: setting.settings ?? null,
    sessionFile: setting.session_file ?? null,
    color: setting.color ?? null,
    chat: setting.chat ?? null,
    idleTimeoutMs: setting.idleTimeout ?? null,
  }
}

const ALLOWED = "settings.allowedDirectories"

interface NoFolder {
  why: string
  /** It may return, such as an unmounted disk. */
  isAway: boolean
}

function allowedFolder(path: string, allowed: readonly string[]): { path: string } | NoFolder {
  const folder = realFolder(path)
  if ("why" in folder || allowed.length === 0 || allowed.some((dir) => isIn(folder.path, realOr(dir)))) return folder
  const where = folder.path === path ? "it" : `it is ${folder.path}, which`
  return {
    why: `${where} is in none of ${ALLOWED} (${allowed.join(", ")}); move it there, or add its folder to that list`,
    isAway: false,
  }
}

const isIn = (path: string, dir: string) => path === dir || path.startsWith(dir.endsWith("/") ? dir : `${dir}/`)

/** The real path of a folder in which an agent can work, or the reason against it. */
function realFolder(path: string): { path: string } | NoFolder {
  try {
    const real = realpathSync.native(path)
    if (kindOf(real) !== "folder") return { why: "it is not a folder", isAway: true }
    accessSync(real, constants.R_OK | constants.X_OK)
    return { path: real }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { why: code === "EACCES" ? "it cannot be read" : "there is no such folder", isAway: true }
  }
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
