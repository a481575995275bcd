import { existsSync, readFileSync } from "node:fs"
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser"
import * as z from "zod"
import { EmbedderSetting } from "../adapters/embedders/list.ts"
import { Failure } from "../domain/failure.ts"

/** The whole configuration. Every key can also be set as THROUGHLINE_<KEY> and by `--set key=value`. */
export const ConfigSchema = z.strictObject({
  database: z
    .strictObject({
      url: z
        .string()
        .regex(/^postgres(ql)?:\/\//, "must begin with postgres://")
        .optional()
        .meta({ secret: true })
        .describe("PostgreSQL instead of the embedded SQLite"),
    })
    .prefault({}),
  http: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Serve HTTP beside the unix socket"),
      host: z.string().min(1).default("127.0.0.1").describe("Address to listen on"),
      port: z.int().min(0).max(65535).default(4747).describe("Port to listen on; 0 takes a free one"),
      hosts: z
        .array(z.string().min(1))
        .default([])
        .describe("Further names under which it may be called, such as a proxy's"),
      behindTls: z
        .boolean()
        .default(false)
        .describe("Confirms that TLS stands in front; needed for a host that is not loopback"),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("What the log file holds"),
    })
    .prefault({}),
  capture: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Keep the conversations of the agents on this machine"),
      exclude: z.array(z.string().min(1)).default([]).describe("Folders of which nothing is kept, with all below them"),
      redactionOff: z
        .array(z.string().min(1))
        .default([])
        .describe("Folders whose conversations are kept as they are, secrets included"),
      redactionExtra: z.array(z.string().min(1)).default([]).describe("Further secrets: kind=regular expression"),
    })
    .prefault({}),
  resume: z
    .strictObject({
      onStart: z
        .enum(["off", "pointer", "brief"])
        .default("pointer")
        .describe("What a session that begins, or was cleared or compacted, is told of where the project stood"),
      maxTokens: z.int().min(50).max(2_500).default(800).describe("How long that may be"),
    })
    .prefault({}),
  embedder: EmbedderSetting.default("none")
    .meta({ secretInside: "apiKey" })
    .describe("What makes vectors, so that search also goes by meaning; without one it goes by words"),
  sessions: z
    .strictObject({
      archiveAfterDays: z
        .number()
        .positive()
        .max(100_000)
        .default(180)
        .describe("Sessions left alone for so long archive themselves"),
    })
    .prefault({}),
})
export type Config = z.output<typeof ConfigSchema>

export interface Setting {
  key: string
  value: unknown
  source: string
  secret: boolean
}

export interface LoadedConfig {
  config: Config
  settings: Setting[]
}

/** Defaults < file < environment < flags. An error names the key, the value and where it came from. */
export function loadConfig({
  path,
  environment,
  flags,
}: {
  path: string
  environment: Record<string, string>
  flags: string[]
}): LoadedConfig {
  const leaves = leavesOf(ConfigSchema)
  const given = new Map<string, { value: unknown; source: string }>()
  for (const [key, value] of fileSettings(path)) given.set(key, { value, source: path })
  for (const [name, text] of Object.entries(environment)) {
    const leaf = leaves.find((candidate) => environmentName(candidate.key) === name)
    if (!leaf)
      throw invalid(
        name,
        text,
        "the environment",
        `is not a setting (known: ${leaves.map((l) => environmentName(l.key)).join(", ")})`,
      )
    given.set(leaf.key, { value: convert(text, leaf), source: `environment ${name}` })
  }
  for (const flag of flags) {
    const [, key = flag, text = ""] = /^([^=]+)=(.*)$/s.exec(flag) ?? []
    const leaf = leaves.find((candidate) => candidate.key === key)
    if (!leaf) throw invalid(key, text, "--set", `is not a setting (known: ${leaves.map((l) => l.key).join(", ")})`)
    given.set(key, { value: convert(text, leaf), source: "--set" })
  }
  for (const [key, { value, source }] of given) {
    const isGroup = leaves.some((leaf) => leaf.key.startsWith(`${key}.`))
    // Checked here: a setting of the group from elsewhere would take its place unseen.
    if (isGroup && (typeof value !== "object" || value === null)) throw invalid(key, value, source, "must be an object")
  }
  const parsed = ConfigSchema.safeParse(nested(given))
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    const key = [...issue.path, ...(issue.code === "unrecognized_keys" ? [issue.keys[0]!] : [])].join(".")
    const cause = [...given].find(([name]) => name === key || name.startsWith(`${key}.`) || key.startsWith(`${name}.`))
    const why =
      issue.code === "unrecognized_keys"
        ? `is not a setting (known: ${leaves.map((l) => l.key).join(", ")})`
        : issue.message
    throw invalid(key, shownValue(cause?.[1].value, isSecret(leaves, key)), cause?.[1].source ?? path, why)
  }
  const config = parsed.data
  const settings = leaves.map(({ key, secret, secretInside }) => ({
    key,
    value: masked(at(config, key), secretInside),
    source: given.get(key)?.source ?? "default",
    secret,
  }))
  return { config: Object.freeze(config), settings }
}

/** Also under a mistyped key, which nobody knows to be secret, a URL's password is not shown. */
function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").replaceAll(/:\/\/[^\s"/]*@/g, "://***@")
}

function invalid(key: string, value: unknown, source: string, why: string): Failure {
  return new Failure("config_invalid", `${key} = ${shown(value)} (${source}): ${why}`, { key, source })
}

interface Leaf {
  key: string
  schema: z.ZodType
  secret: boolean
  /** The name of the secret in a setting that is an object. */
  secretInside: string | undefined
}

function leavesOf(schema: z.ZodType, prefix = ""): Leaf[] {
  const bare = unwrap(schema)
  if (bare instanceof z.ZodObject)
    return Object.entries(bare.shape).flatMap(([name, inner]) =>
      leavesOf(inner as z.ZodType, prefix ? `${prefix}.${name}` : name),
    )
  const { secret, secretInside } = metaOf(schema)
  return [{ key: prefix, schema: bare, secret: secret === true, secretInside }]
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.unwrap() as z.ZodType)
  return schema
}

function metaOf(schema: z.ZodType): { secret?: unknown; secretInside?: string } {
  return (schema.meta() ??
    (schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType).meta() : undefined) ??
    {}) as { secret?: unknown; secretInside?: string }
}

const isSecret = (leaves: Leaf[], key: string) =>
  leaves.some((leaf) =>
    leaf.secretInside === undefined
      ? leaf.key === key && leaf.secret
      : leaf.key === key || key.startsWith(`${leaf.key}.`),
  )
const masked = (value: unknown, name: string | undefined) =>
  name !== undefined && typeof value === "object" && value !== null && name in value
    ? { ...value, [name]: "***" }
    : value
const shownValue = (value: unknown, secret: boolean) => (secret && value !== undefined ? "***" : value)

/** `http.behindTls` is THROUGHLINE_HTTP_BEHIND_TLS. */
export function environmentName(key: string): string {
  return `THROUGHLINE_${key
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .replaceAll(".", "_")
    .toUpperCase()}`
}

/** A text that cannot be converted is passed on as it is: the schema then says what is wrong with it. */
function convert(text: string, { schema }: Leaf): unknown {
  if (schema instanceof z.ZodNumber) return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text)
  if (schema instanceof z.ZodBoolean)
    return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text
  if (schema instanceof z.ZodUnion && text.startsWith("{")) return parse(text)
  if (schema instanceof z.ZodArray) return text === "" ? [] : text.split(",").map((part) => part.trim())
  return text
}

function fileSettings(path: string): [string, unknown][] {
  if (!existsSync(path)) return []
  const text = readFileSync(path, "utf8")
  if (text.trim() === "") return []
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const error = errors[0]
  if (error) {
    const before = text.slice(0, error.offset).split("\n")
    throw new Failure(
      "config_invalid",
      `${path}:${before.length}:${before.at(-1)!.length + 1}: ${printParseErrorCode(error.error)}`,
      { path },
    )
  }
  if (value === undefined) return []
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("the file", value, path, "must hold an object")
  return flat(value)
}

function flat(value: object, prefix = ""): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const key = prefix ? `${prefix}.${name}` : name
    const deeper = typeof inner === "object" && inner !== null && !Array.isArray(inner) && Object.keys(inner).length > 0
    return deeper ? flat(inner, key) : [[key, inner] as [string, unknown]]
  })
}

function nested(given: Map<string, { value: unknown }>): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [key, { value }] of given) {
    const names = key.split(".")
    const last = names.pop()!
    let at = root
    for (const name of names) {
      if (typeof at[name] !== "object" || at[name] === null) at[name] = {}
      at = at[name] as Record<string, unknown>
    }
    at[last] = value
  }
  return root
}

function at(config: unknown, key: string): unknown {
  return key.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], config)
}
