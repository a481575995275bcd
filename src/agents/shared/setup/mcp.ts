import type { Program } from "../../../domain/setup.ts"
import type { JsonFile } from "./json.ts"

export const SERVER = "throughline"

/** Most agents' form: <key>.throughline = { command, args, env }. A person's additions stay. */
export function addServer(file: JsonFile, key: string, { node, entry, env }: Program, more: object = {}): void {
  const path = [key, SERVER]
  file.object([key])
  const before = file.object(path)
  const words = Array.isArray(before.args) ? (before.args as unknown[]) : []
  const wanted = { ...more, command: node, args: [entry, ...(words[1] === "mcp" ? words.slice(1) : ["mcp"])] }
  if (file.at(path) === undefined) file.set(path, { ...wanted, ...(Object.keys(env).length > 0 ? { env } : {}) })
  else {
    if (before.command !== wanted.command) file.set([...path, "command"], wanted.command)
    if (JSON.stringify(words) !== JSON.stringify(wanted.args)) file.set([...path, "args"], wanted.args)
    setVariables(file, [...path, "env"], env)
  }
}

export function setVariables(file: JsonFile, path: string[], env: Record<string, string>): void {
  const before = file.object(path)
  for (const [name, value] of Object.entries(env)) if (before[name] !== value) file.set([...path, name], value)
}

export function removeServer(file: JsonFile, key: string): void {
  if (file.at([key, SERVER]) === undefined) return
  file.remove([key, SERVER])
  file.removeIfEmpty([key])
}
