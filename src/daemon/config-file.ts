import { rmSync, writeFileSync } from "node:fs"
import { editJson } from "../adapters/setup/shared/json.ts"
import { Failure } from "../domain/failure.ts"
import type { ConfigService } from "../operations/services.ts"
import { writeWhole } from "../sessions/setup/files.ts"
import { HIDDEN, loadConfig, type Setting, valueAt } from "./config.ts"

/** config.json, as a person changes it through the program: checked as at a start before it is written. */
export function configFile(path: string, environment: Record<string, string>, flags: string[]): ConfigService {
  const load = (file: string) => loadConfig({ path: file, environment, flags }).settings
  return {
    file: path,
    show: () => load(path).filter(isLeaf),
    set(key, text) {
      // What is shown instead of a secret must not take its place.
      if (text?.includes(HIDDEN))
        throw new Failure("config_invalid", `${key}: ${HIDDEN} stands for a secret; write the secret itself`, { key })
      // Asked first: as a flag it is converted, and refused, as everywhere else.
      const value =
        text === undefined
          ? undefined
          : valueAt(loadConfig({ path, environment: {}, flags: [`${key}=${text}`] }).config, key)
      const edits = editJson(path, key, (file) => {
        const place = key.split(".")
        if (value === undefined) file.remove(place)
        else {
          if (place.length > 1) file.object(place.slice(0, -1))
          file.set(place, value)
        }
      })
      for (const { after } of edits) {
        const draft = `${path}.draft`
        try {
          writeFileSync(draft, after!, { mode: 0o600 })
          loadConfig({ path: draft, environment, flags })
        } finally {
          rmSync(draft, { force: true })
        }
        writeWhole(path, after!)
      }
    },
  }
}

const isLeaf = ({ key }: Setting) => !key.startsWith("teams.")
