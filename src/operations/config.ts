import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { personOf } from "./caller.ts"
import { operation } from "./operation.ts"

const SettingView = z.object({
  key: z.string(),
  /** As it would be written after `--set`; absent where nothing is set, and where it is a secret. */
  value: z.string().optional(),
  source: z.string(),
  description: z.string(),
  isSecret: z.boolean().optional(),
  isSet: z.boolean(),
})

export const configShow = operation({
  name: "config.show",
  summary: "Show the settings as the file, the environment and the defaults have them now",
  effect: "read",
  on: ["http"],
  input: z.strictObject({}),
  output: z.object({ file: z.string(), settings: z.array(SettingView) }),
  text: ({ settings }) => settings.map(({ key, value }) => `${key}=${value ?? ""}`).join("\n"),
  async run({ system: { config } }) {
    const settings = config.show().map(({ key, value, source, secret, description }) => ({
      key,
      ...(value !== undefined && !secret && { value: textOf(value) }),
      source,
      description,
      ...(secret && { isSecret: true }),
      isSet: value !== undefined,
    }))
    return { file: config.file, settings }
  },
})

export const configSet = operation({
  name: "config.set",
  summary: "Write a setting into the configuration file; an empty value takes it out",
  effect: "write",
  on: ["http"],
  input: z.strictObject({
    key: z.string().min(1).describe("Such as http.port"),
    value: z.string().max(100_000).describe("As after --set"),
  }),
  output: z.object({ key: z.string(), isSet: z.boolean() }),
  text: ({ key, isSet }) => (isSet ? `${key} is written.` : `${key} is as it is by default.`),
  async run({ system: { config } }, { key, value }, caller) {
    // Who chooses the settings chooses what agents may do.
    personOf(caller)
    try {
      config.set(key, value === "" ? undefined : value)
    } catch (error) {
      // Not the configuration is wrong, but what was to be written into it.
      if (!(error instanceof Failure) || error.code !== "config_invalid") throw error
      throw new Failure("bad_input", error.message, { parameter: key }, { cause: error })
    }
    return { key, isSet: value !== "" }
  },
})

const textOf = (value: unknown) =>
  Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value)
