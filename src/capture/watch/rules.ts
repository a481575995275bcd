import { resolve, sep } from "node:path"
import type { ArchiveRules } from "../../domain/capture.ts"
import { Failure } from "../../domain/failure.ts"
import type { Project, ProjectFinder } from "../../domain/project.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { rootUri } from "../../lib/roots.ts"
import { makeRedactor } from "../redact/redaction.ts"

export interface CaptureSettings {
  exclude: readonly string[]
  redactionOff: readonly string[]
  /** Each is `kind=regular expression`. */
  redactionExtra: readonly string[]
}

const MAX_REMEMBERED = 5_000

interface Deps {
  store: Store
  clock: Clock
  projects: ProjectFinder
  homeDir: string
  capture: CaptureSettings
}

export function makeRules({ store, clock, projects, homeDir, capture }: Deps): ArchiveRules {
  const redact = redactorOf(capture)
  const excluded = below(capture.exclude, homeDir)
  const unredacted = below(capture.redactionOff, homeDir)
  const remembered = new Map<string, Project | undefined>()
  /** A deleted folder is still a project: its conversations remain. */
  const findProject = async (path: string) => {
    try {
      return await projects.ensure(path)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (error.code === "root_not_found" && path.startsWith("/"))
        return store.projects.ensure(rootUri(resolve(path)), clock.nowMs())
      if (error.code === "root_not_found" || error.code === "root_invalid") return undefined
      throw error
    }
  }
  return {
    excluded,
    excludesSome: capture.exclude.length > 0,
    redact: (text, projectPath) => (projectPath !== null && unredacted(projectPath) ? text : redact(text)),
    async projectOf(path) {
      if (remembered.has(path)) return remembered.get(path)
      if (remembered.size >= MAX_REMEMBERED) remembered.clear()
      const project = await findProject(path)
      remembered.set(path, project)
      return project
    },
  }
}

const redactors = new Map<string, (text: string) => string>()

/** Cached by settings: building a redactor is expensive. */
export function redactorOf({ redactionExtra }: Pick<CaptureSettings, "redactionExtra">): (text: string) => string {
  const key = JSON.stringify(redactionExtra)
  const redact = redactors.get(key) ?? makeRedactor({ extra: redactionExtra.map(extraRule) })
  redactors.set(key, redact)
  return redact
}

/** Parses one rule of the setting capture.redactionExtra. */
export function extraRule(text: string): { kind: string; pattern: string } {
  const [, kind, pattern] = /^([a-z0-9-]+)=(.+)$/s.exec(text) ?? []
  const wrong = (why: string) =>
    new Failure("config_invalid", `capture.redactionExtra holds ${JSON.stringify(text)}: ${why}`, {
      key: "capture.redactionExtra",
    })
  if (kind === undefined || pattern === undefined) throw wrong("it must be kind=regular expression")
  try {
    new RegExp(pattern, "g")
  } catch (error) {
    throw wrong((error as Error).message)
  }
  return { kind, pattern }
}

function below(folders: readonly string[], homeDir: string): (path: string) => boolean {
  const roots = folders.map((folder) => resolve(folder.replace(/^~(?=\/|$)/, homeDir)))
  return (path) => roots.some((root) => path === root || path.startsWith(root + sep))
}
