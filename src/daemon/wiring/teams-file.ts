import { type ParseError, parse, printParseErrorCode } from "jsonc-parser"
import { malformed, readText } from "../../agents/shared/setup/files.ts"
import { editJson } from "../../agents/shared/setup/json.ts"
import { Failure } from "../../domain/failure.ts"
import { writeWhole } from "../../setup/files.ts"
import type { TeamsFile } from "../../teams/roster-module.ts"
import { readConfig, valueAt } from "../config/config.ts"
import { ConfigSchema } from "../config/settings.ts"
import { TEAM_NAME, TeamSettingSchema } from "../config/team-settings.ts"

/** The teams in config.json. Leaves everything else, and a malformed file, unchanged. */
export function teamsFile(path: string, read: TeamsFile["read"]): TeamsFile {
  return {
    read,
    check(name, keys) {
      if (!TEAM_NAME.test(name))
        return { wrong: `${JSON.stringify(name)} is not a valid name: use at most 64 letters, digits, - and _` }
      const parsed = TeamSettingSchema.safeParse(keys)
      if (parsed.success) return parsed.data
      const issue = parsed.error.issues[0]!
      const key = issue.code === "unrecognized_keys" ? issue.keys[0]! : issue.path.join(".")
      const value = issue.path.reduce<unknown>((at, name) => (at as Record<PropertyKey, unknown>)?.[name], keys)
      return { wrong: `${key} = ${JSON.stringify(value) ?? "nothing"}: ${issue.message}` }
    },
    setting: (key) => valueAt(parse(readConfig(path), [], { allowTrailingComma: true }), key),
    checkSetting(key, value) {
      const alone = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
      const parsed = ConfigSchema.safeParse(alone)
      return parsed.success ? undefined : `${JSON.stringify(value)}: ${parsed.error.issues[0]!.message}`
    },
    change({ set = {}, remove = [], settings = {} }) {
      const edits = editJson(path, "teams", (file) => {
        file.object(["teams"])
        for (const [key, value] of Object.entries(settings)) {
          const place = key.split(".")
          file.object(place.slice(0, -1))
          file.set(place, value)
        }
        for (const [name, keys] of Object.entries(set)) file.set(["teams", name], keys)
        for (const name of remove) file.remove(["teams", name])
        if (remove.length > 0) file.removeIfEmpty(["teams"])
      })
      for (const { after } of edits) writeWhole(path, after!)
    },
    parse(other) {
      const text = readText(other)
      if (text === null) throw new Failure("bad_input", `there is no file ${other}`, { parameter: "file" })
      const errors: ParseError[] = []
      const value: unknown = parse(text, errors, { allowTrailingComma: true })
      if (errors[0]) throw malformed(other, text, errors[0].offset, printParseErrorCode(errors[0].error))
      return value
    },
  }
}
