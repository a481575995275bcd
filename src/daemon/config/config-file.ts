import { editJson } from "../../agents/shared/setup/json.ts"
import { Failure } from "../../domain/failure.ts"
import type { ConfigService, ConfigUndo } from "../../operations/services.ts"
import { writeWhole } from "../../setup/files.ts"
import { HIDDEN, loadConfig, problemFailure, type Setting, valueAt } from "./config.ts"
import { machineProblems } from "./config-check.ts"

interface Options {
  path: string
  environment: Record<string, string>
  flags: string[]
  /** Of the running daemon, which has its port already. */
  registration?(): { url?: string | undefined }
}

/** Changes config.json; every change passes the checks of a start before it is written. */
export function configFile({ path, environment, flags, registration }: Options): ConfigService {
  const load = () => loadConfig({ path, environment, flags })
  return {
    file: path,
    show: () => load().settings.filter(isLeaf),
    async set(key, text) {
      // The placeholder must not replace the secret.
      if (text?.includes(HIDDEN))
        throw new Failure("config_invalid", `${key}: ${HIDDEN} stands for a secret; write the secret itself`, { key })
      // Loaded as a flag first: that converts and checks the value even if the file itself is broken.
      const value =
        text === undefined
          ? undefined
          : valueAt(
              loadConfig({ path, text: "", environment: {}, flags: [`${key}=${text}`, ...rulesOff(key)] }).config,
              key,
            )
      const edits = editJson(path, key, (file) => {
        const place = key.split(".")
        if (value === undefined) file.remove(place)
        else {
          if (place.length > 1) file.object(place.slice(0, -1))
          file.set(place, value)
        }
      })
      // Groups and unknown keys can be removed from the file; a key that is not in it was misspelt.
      if (value === undefined && edits.length === 0 && !isSetting(key))
        loadConfig({ path, text: "", environment: {}, flags: [`${key}=`] })
      const undo = undoOf(path, key)
      for (const { after } of edits)
        await writeChecked({ path, environment, flags, ...(registration && { registration }) }, after!, key)
      return undo
    },
  }
}

const isSetting = (key: string) =>
  loadConfig({ path: "", text: "", environment: {}, flags: [] }).settings.some((setting) => setting.key === key)

/** An address alone fails the rules; the file may have the setting that it needs. */
const rulesOff = (key: string) => (key === "http.host" ? ["http.behindTls=true"] : [])

/** Replaces the file atomically if a start would accept it. */
async function writeChecked(
  { path, environment, flags, registration }: Options,
  text: string,
  key: string,
): Promise<void> {
  const { config } = loadConfig({ path, text, environment, flags })
  const problems = await machineProblems(config, { url: registration?.().url })
  // An existing problem must not block changes to other settings.
  const mine = problems.find((problem) => isSamePart(problem.key, key))
  if (mine) throw problemFailure(mine, path, { path, text })
  writeWhole(path, text)
}

const isSamePart = (a: string, b: string) => a.split(".", 1)[0] === b.split(".", 1)[0]

/** The change that restores the file; undefined for secrets, which are never returned. */
function undoOf(path: string, key: string): ConfigUndo | undefined {
  try {
    const before = loadConfig({ path, environment: {}, flags: [] }).settings.find((setting) => setting.key === key)
    if (!before || before.source === "default") return {}
    const isShown = !before.secret && !JSON.stringify(before.value).includes(HIDDEN)
    return isShown ? { value: before.value } : undefined
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

const isLeaf = ({ key }: Setting) => !key.startsWith("teams.")
