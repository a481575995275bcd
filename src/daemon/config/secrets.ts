import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import { writeWhole } from "../../setup/files.ts"
import type { Home } from "../process/home.ts"
import { FILE_SIGN, secretVariables } from "./config.ts"

/**
 * Secrets that the daemon was given by its environment go into files of its data directory, and the environment names those from then on:
 * agents, and what they run, do not get them, and a daemon that is started from within one has the same settings.
 */
export function putSecretsAside(home: Home, env: Machine["env"]): void {
  for (const name of secretVariables()) {
    const value = env[name]
    if (value === undefined || value.startsWith(FILE_SIGN)) continue
    const path = join(home.secrets, name)
    writeWhole(path, value)
    env[name] = `${FILE_SIGN}${path}`
  }
}
