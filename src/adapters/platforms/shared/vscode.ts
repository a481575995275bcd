import { posix, win32 } from "node:path"
import type { Machine } from "../../../domain/platform.ts"

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
