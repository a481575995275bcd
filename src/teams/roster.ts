import { accessSync, constants, realpathSync, statSync } from "node:fs"
import { Failure } from "../domain/failure.ts"
import type { Roster, Team } from "../domain/team.ts"

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
  /** Reads the configuration again. One that is broken changes nobody. */
  reload(): void
  /** What is wrong with the configuration as it stands now, in whole sentences. */
  troubles(): string[]
}

/** `read` throws where the configuration cannot be used. */
export function makeRoster({ read }: { read(): Record<string, TeamSetting> }): ReloadingRoster {
  let teams: readonly Team[] = []
  let troubles: string[] = []
  const listeners = new Set<() => void>()

  const reload = () => {
    const found = resolved(read, teams)
    troubles = found.troubles
    if (JSON.stringify(found.teams) === JSON.stringify(teams)) return
    teams = Object.freeze(found.teams)
    for (const listener of listeners) listener()
  }
  reload()

  return {
    reload,
    troubles: () => troubles,
    list: () => teams,
    byName: (name) => teams.find((team) => team.name === name),
    at(dir) {
      const real = realOr(dir)
      const isAbove = ({ projectDir }: Team) =>
        real === projectDir || real.startsWith(projectDir.endsWith("/") ? projectDir : `${projectDir}/`)
      return teams.filter(isAbove).toSorted((a, b) => b.projectDir.length - a.projectDir.length)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function resolved(
  read: () => Record<string, TeamSetting>,
  before: readonly Team[],
): { teams: readonly Team[]; troubles: string[] } {
  let settings: Record<string, TeamSetting>
  try {
    settings = read()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return {
      teams: before,
      troubles: [`The configuration is broken, and the teams stay as they were: ${error.message}`],
    }
  }
  const teams: Team[] = []
  const troubles: string[] = []
  for (const [name, setting] of Object.entries(settings)) {
    const key = (of: string) => `teams.${name}.${of}`
    const folder = realFolder(setting.project)
    const known = before.find((team) => team.name === name)
    if ("why" in folder) {
      troubles.push(`${key("project")} = ${JSON.stringify(setting.project)}: ${folder.why}`)
      // A disk that is not mounted now must not make its messages homeless.
      if (known) teams.push(known)
      continue
    }
    for (const of of ["claude_md", "settings"] as const) {
      const file = setting[of]
      if (file !== undefined && !isReadable(file))
        troubles.push(`${key(of)} = ${JSON.stringify(file)}: there is no such file, or it cannot be read`)
    }
    teams.push(teamOf(name, folder.path, setting))
  }
  return { teams, troubles }
}

function teamOf(name: string, projectDir: string, setting: TeamSetting): Team {
  return {
    name,
    projectDir,
    description: setting.description,
    platform: setting.platform,
    program: setting.program ?? null,
    skipPermissions: setting.skipPermissions,
    permissionMode: setting.permissionMode,
    whenAway: setting.whenAway,
    instructionsFile: setting.claude_md ?? null,
    settingsFile: setting.settings ?? null,
    sessionFile: setting.session_file ?? null,
    taskStateFile: setting.taskStateFile,
    color: setting.color ?? null,
    chat: setting.chat ?? null,
    idleTimeoutMs: setting.idleTimeout ?? null,
  }
}

/** The real path of a folder in which an agent can work, or why there is none. */
export function realFolder(path: string): { path: string } | { why: string } {
  try {
    const real = realpathSync.native(path)
    if (!statSync(real).isDirectory()) return { why: "it is not a folder" }
    accessSync(real, constants.R_OK | constants.X_OK)
    return { path: real }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { why: code === "EACCES" ? "it cannot be read" : "there is no such folder" }
  }
}

export function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
