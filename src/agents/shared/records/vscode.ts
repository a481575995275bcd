import { existsSync, readdirSync } from "node:fs"
import { dirname, join, posix, win32 } from "node:path"
import { fileURLToPath } from "node:url"
import type { Machine } from "../../../domain/platform.ts"
import { readText } from "../../../lib/untrusted-file.ts"
import { withForeignDb } from "./foreign-sqlite.ts"
import { asObject, asString, type Json } from "./jsonl.ts"

/** The folders in which VS Code, or what is made of it, keeps a person's data. They need not exist. */
export function vscodeUserDirs({ os, homeDir, env }: Machine, products: readonly string[]): string[] {
  const { join } = os === "win32" ? win32 : posix
  const base = {
    linux: env.XDG_CONFIG_HOME || join(homeDir, ".config"),
    darwin: join(homeDir, "Library", "Application Support"),
    win32: env.APPDATA || join(homeDir, "AppData", "Roaming"),
  }[os]
  return products.map((product) => join(base, product, "User"))
}

/** The folders in which an extension keeps its files, in every editor that can run it, here or at the far end. */
export function extensionDirs(machine: Machine, extension: string): string[] {
  const { join } = machine.os === "win32" ? win32 : posix
  const users = [
    ...vscodeUserDirs(machine, ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"]),
    ...[".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"].map((server) =>
      join(machine.homeDir, server, "data", "User"),
    ),
  ]
  return users.map((user) => join(user, "globalStorage", extension))
}

/** The folder that was open in a workspace; undefined where none was, or where it is not known any more. */
export function workspaceFolder(storage: string, id: string): string | undefined {
  try {
    const about = asObject(JSON.parse(readText(join(storage, id, "workspace.json"))))
    const file = folderIn(about?.workspace)
    return folderIn(about?.folder) ?? (file && dirname(file))
  } catch {
    return undefined
  }
}

/** Which folder each of the things belongs to that the workspaces name under a key; no other key is read. */
export function foldersByItem(storage: string, key: string, namesIn: (value: Json) => string[]): Map<string, string> {
  const folders = new Map<string, string>()
  for (const id of existsSync(storage) ? readdirSync(storage) : []) {
    const folder = workspaceFolder(storage, id)
    if (folder === undefined) continue
    try {
      const [row] = withForeignDb(join(storage, id, "state.vscdb"), (db) =>
        db.all("SELECT CAST(value AS TEXT) AS text FROM ItemTable WHERE key = ?", key),
      )
      const value = asObject(JSON.parse(String(row?.text ?? "{}")))
      for (const name of namesIn(value ?? {})) folders.set(name, folder)
    } catch {
      // A workspace that cannot be read now leaves its things without a folder, and no more.
    }
  }
  return folders
}

/** Folders at the far end of a connection are none of this machine's, but those of its own Linux within Windows are. */
export function folderIn(uri: unknown): string | undefined {
  const text = asString(uri) ?? ""
  try {
    if (text.startsWith("file://")) return fileURLToPath(text)
    const path = /^vscode-remote:\/\/wsl(?:\+|%2B)[^/]+(\/.*)$/i.exec(text)?.[1]
    return path && decodeURIComponent(path)
  } catch {
    return undefined
  }
}
