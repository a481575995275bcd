import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { operation } from "./operation.ts"

const SettingView = z.object({
  key: z.string(),
  /** In the form of `--set`; absent if unset or secret. */
  value: z.string().optional(),
  source: z.string(),
  description: z.string(),
  isSecret: z.boolean().optional(),
  isSet: z.boolean(),
})

export const configShow = operation({
  name: "config.show",
  summary: "Show the effective settings and where each comes from",
  effect: "read",
  access: "owner",
  accessReason:
    "secrets are left out, but the programs that agents are started with, folders and people's numbers stand there, which neither a program that sends messages nor a model needs",
  on: ["http"],
  input: z.strictObject({}),
  output: z.object({
    file: z.string(),
    settings: z.array(SettingView),
    /** Why the file is invalid; the daemon keeps the settings of its start. */
    trouble: z.string().optional(),
  }),
  text: ({ settings }) => settings.map(({ key, value }) => `${key}=${value ?? ""}`).join("\n"),
  async run({ system: { config } }) {
    let shown: ReturnType<typeof config.show> = []
    let trouble: string | undefined
    try {
      shown = config.show()
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "config_invalid") throw error
      trouble = error.message
    }
    const settings = shown.map(({ value, secret, ...rest }) => ({
      ...rest,
      value: value === undefined || secret ? undefined : textOf(value),
      isSecret: secret || undefined,
      isSet: value !== undefined,
    }))
    return { file: config.file, settings, trouble }
  },
})

export const configSet = operation({
  // Settings decide what agents may do.
  name: "config.set",
  summary: "Save a setting in the configuration file; an empty value removes it",
  effect: "write",
  access: "owner",
  // The value may be a secret.
  audited: ({ key, value }) => ({ key, isSet: value !== "" }),
  on: ["http"],
  input: z.strictObject({
    key: z.string().min(1).describe("Such as http.port"),
    value: z.string().max(100_000).describe("As after --set"),
  }),
  output: z.object({
    key: z.string(),
    isSet: z.boolean(),
    /** The value that undoes it; absent for secrets. */
    undo: z.string().optional(),
  }),
  text: ({ key, isSet }) => (isSet ? `Saved ${key}.` : `${key} is back to its default.`),
  async run({ system: { config } }, { key, value }) {
    try {
      const undo = await config.set(key, value === "" ? undefined : value)
      const before = undo && (undo.value === undefined ? "" : textOf(undo.value))
      return { key, isSet: value !== "", undo: before }
    } catch (error) {
      // The input is wrong, not the configuration.
      if (!(error instanceof Failure) || error.code !== "config_invalid") throw error
      throw new Failure("bad_input", error.message, { parameter: key }, { cause: error })
    }
  },
})

const textOf = (value: unknown) =>
  Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value)
