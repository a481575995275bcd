import { existsSync, readdirSync } from "node:fs"
import { dirname, join, posix, win32 } from "node:path"
import { fileURLToPath } from "node:url"
import type { Machine } from "../../../domain/platform.ts"
import { textIfAny } from "../../../lib/untrusted-file.ts"
import { withForeignDb } from "./foreign-sqlite.ts"
import { asObject, asString, type Json, jsonIn } from "./jsonl.ts"

/** User data folders of VS Code and its forks. They need not exist. */
export function vscodeUserDirs({ os, homeDir, env }: Machine, products: readonly string[]): string[] {
  const { join } = os === "win32" ? win32 : posix
  const base = {
    linux: env.XDG_CONFIG_HOME || join(homeDir, ".config"),
    darwin: join(homeDir, "Library", "Application Support"),
    win32: env.APPDATA || join(homeDir, "AppData", "Roaming"),
  }[os]
  return products.map((product) => join(base, product, "User"))
}

/** An extension's storage in every editor that can run it, local or remote. */
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

/** The folder open in a workspace; undefined if none or unknown. */
export function workspaceFolder(storage: string, id: string): string | undefined {
  const about = jsonIn(textIfAny(join(storage, id, "workspace.json")))
  const file = folderIn(about?.workspace)
  return folderIn(about?.folder) ?? (file && dirname(file))
}

/** The folder of each item that workspaces list under a key; reads no other key. */
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
      // An unreadable workspace only leaves its items without a folder.
    }
  }
  return folders
}

/** Remote folders are not on this machine, except those of WSL. */
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
