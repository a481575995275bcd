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
  /** Of the daemon that runs now: its port is taken by itself. */
  registration?(): { url?: string | undefined }
}

/** config.json, as a person changes it through the program: checked as at a start before it is written. */
export function configFile({ path, environment, flags, registration }: Options): ConfigService {
  const load = () => loadConfig({ path, environment, flags })
  return {
    file: path,
    show: () => load().settings.filter(isLeaf),
    async set(key, text) {
      // What is shown instead of a secret must not take its place.
      if (text?.includes(HIDDEN))
        throw new Failure("config_invalid", `${key}: ${HIDDEN} stands for a secret; write the secret itself`, { key })
      // Asked first: as a flag it is converted, and refused, as everywhere else. The file itself may be what is broken.
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
      // A group, or what is no setting, can be taken out of the file; what is not in it was misspelt.
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

/** By itself an address is no good without the setting that goes with it, which the file may hold. */
const rulesOff = (key: string) => (key === "http.host" ? ["http.behindTls=true"] : [])

/** Writes what a start would accept, in one step; anything else leaves the file as it is. */
async function writeChecked(
  { path, environment, flags, registration }: Options,
  text: string,
  key: string,
): Promise<void> {
  const { config } = loadConfig({ path, text, environment, flags })
  const problems = await machineProblems(config, { url: registration?.().url })
  // What was wrong before must not keep anybody from changing something else.
  const mine = problems.find((problem) => isSamePart(problem.key, key))
  if (mine) throw problemFailure(mine, path, { path, text })
  writeWhole(path, text)
}

const isSamePart = (a: string, b: string) => a.split(".", 1)[0] === b.split(".", 1)[0]

/** What brings the file back to how it was; undefined where that is a secret, which is not handed out. */
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
