import { readdir } from "node:fs/promises"
import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture } from "../../../domain/capture.ts"
import type { Machine, Platform, SourcePlace, WholeReader } from "../../../domain/platform.ts"
import { asNumber, asObject, asString, type Json } from "../records/jsonl.ts"
import { wholeText } from "../records/whole.ts"
import { opencodeDatabase } from "./database.ts"
import { described, revertOf, SessionReading } from "./session.ts"

/** opencode and its forks, which differ in names only. */
export function opencodeLike(program: {
  id: string
  label: string
  verified: string
  /** Also its folder's name, and its name as an MCP client. */
  command: string
  databaseVariable: string
  databases: RegExp
}): Platform {
  return {
    id: program.id,
    label: program.label,
    verified: program.verified,
    can: { hooks: false, resume: true, times: true },
    clientNames: [program.command],
    places(machine) {
      const { join } = machine.os === "win32" ? win32 : posix
      const dir = join(machine.env.XDG_DATA_HOME || join(machine.homeDir, ".local", "share"), program.command)
      return [
        { dir, depth: 0 },
        ...namedPlace(machine, dir, machine.env[program.databaseVariable]),
        { dir: join(dir, "storage", "session"), depth: 1 },
      ]
    },
    claim({ path, relative, place }) {
      const named = "database" in place ? place.database === relative : program.databases.test(relative)
      if (named) return { key: path, reader: opencodeDatabase }
      const sessionId = /^[^/]+\/(ses_[^/]+)\.json$/.exec(relative)?.[1]
      if (!sessionId) return undefined
      return { key: path, files: [path, join(storageOf(path), "message", sessionId)], reader: legacyTree }
    },
    resume: ({ nativeId, projectPath }) => ({ argv: [program.command, "-s", nativeId], cwd: projectPath }),
  }
}

function namedPlace(machine: Machine, dataDir: string, named: string | undefined): SourcePlace[] {
  if (!named || named === ":memory:") return []
  const { isAbsolute, join, dirname, basename } = machine.os === "win32" ? win32 : posix
  const path = isAbsolute(named) ? named : join(dataDir, named)
  return [{ dir: dirname(path), depth: 0, database: basename(path) } as SourcePlace]
}

/** Before February 2026 each row was a file. Ids stay the same, so a migrated tree adds nothing. */
const legacyTree: WholeReader = {
  mode: "whole",
  async read(path) {
    const info = await jsonFile(path)
    const id = asString(info.id) ?? basename(path, ".json")
    const project = asString(info.directory) ? {} : await jsonFile(projectFileOf(path)).catch((): Json => ({}))
    const capture = described(id, {
      parent: info.parentID,
      directory: info.directory ?? project.worktree,
      title: info.title,
      version: info.version,
      created: asObject(info.time)?.created,
    })
    const reading = new SessionReading({ capture, revert: revertOf(asObject(info.revert)) }, 0)
    const captures: Capture[] = [capture]
    for (const data of await jsonFiles(join(storageOf(path), "message", id))) {
      const messageId = asString(data.id) ?? ""
      const parts = await jsonFiles(join(storageOf(path), "part", messageId))
      captures.push(
        ...reading.captures({
          id: messageId,
          data,
          createdAt: asNumber(asObject(data.time)?.created),
          parts: parts.map((part) => ({ id: asString(part.id) ?? "", data: part, createdAt: undefined })),
        }),
      )
    }
    return [...captures, ...reading.end()]
  },
}

const storageOf = (sessionFile: string) => dirname(dirname(dirname(sessionFile)))
const projectFileOf = (sessionFile: string) =>
  join(storageOf(sessionFile), "project", `${basename(dirname(sessionFile))}.json`)

async function jsonFile(path: string): Promise<Json> {
  const value = asObject(JSON.parse(wholeText(path)))
  if (!value) throw new TypeError(`${path} holds no object`)
  return value
}

/** Sorted by name: ids increase with time. */
async function jsonFiles(dir: string): Promise<Json[]> {
  const names = await readdir(dir).catch((): string[] => [])
  return Promise.all(
    names
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => jsonFile(join(dir, name))),
  )
}
