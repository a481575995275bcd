import { existsSync } from "node:fs"
import { findNodeAtLocation, type ParseError, parse, parseTree, printParseErrorCode } from "jsonc-parser"
import * as z from "zod"
import { Failure } from "../../domain/failure.ts"
import { readText } from "../../lib/untrusted-file.ts"
import { type ConfigProblem, ruleProblem } from "./config-check.ts"
import { type Config, ConfigSchema } from "./settings.ts"
import { TEAM_KEYS } from "./team-settings.ts"

export interface Setting {
  key: string
  value: unknown
  source: string
  secret: boolean
  /** What it is for. */
  description: string
}

export interface LoadedConfig {
  config: Config
  settings: Setting[]
}

/** Defaults < file < environment < flags. An error names the key, the value and where it came from. */
export function loadConfig(sources: {
  path: string
  /** The content to check; the file's own if absent. */
  text?: string
  environment: Record<string, string>
  flags: string[]
}): LoadedConfig {
  const { path, text = readConfig(path), environment, flags } = sources
  const all = leavesOf(ConfigSchema)
  const records = all.filter((leaf) => leaf.isRecord).map((leaf) => leaf.key)
  const leaves = all.filter((leaf) => !leaf.isRecord)
  const given: Given = new Map()
  for (const [key, value] of fileSettings(path, text, records)) given.set(key, { value, source: path })
  for (const [name, text] of Object.entries(environment)) {
    const leaf = leaves.find((candidate) => environmentName(candidate.key) === name)
    const known = () => `is not a setting (known: ${leaves.map((l) => environmentName(l.key)).join(", ")})`
    const isInFile = records.some((record) => environmentName(record) === name)
    if (!leaf) throw invalid(name, text, "the environment", isInFile ? IN_FILE_ONLY : known())
    const value = isHidden(leaf) && text.startsWith(FILE_SIGN) ? textIn(name, text) : text
    given.set(leaf.key, { value: convert(value, leaf), source: `environment ${name}` })
  }
  for (const flag of flags) {
    const [, key = flag, text = ""] = /^([^=]+)=(.*)$/s.exec(flag) ?? []
    const leaf = leaves.find((candidate) => candidate.key === key)
    const known = () => `is not a setting (known: ${leaves.map((l) => l.key).join(", ")})`
    const isInFile = records.some((record) => key === record || key.startsWith(`${record}.`))
    if (!leaf) throw invalid(key, text, "--set", isInFile ? IN_FILE_ONLY : known())
    given.set(key, { value: convert(text, leaf), source: "--set" })
  }
  for (const [key, { value, source }] of given) {
    const isGroup = records.includes(key) || leaves.some((leaf) => leaf.key.startsWith(`${key}.`))
    // Checked here: otherwise a setting of the group from another source would replace it silently.
    if (isGroup && (typeof value !== "object" || value === null))
      throw invalid(key, value, placeOf(source, key, { path, text }), "must be an object")
  }
  const parsed = ConfigSchema.safeParse(nested(given))
  if (!parsed.success) throw refusal(parsed.error.issues[0]!, { given, leaves: all, path, text })
  const config = parsed.data
  const problem = ruleProblem(config)
  if (problem) throw problemFailure(problem, given.get(problem.key)?.source ?? "default", { path, text })
  const settings = leaves.map(({ key, secret, secretInside, description }) => ({
    key,
    value: masked(valueAt(config, key), secretInside),
    source: given.get(key)?.source ?? "default",
    secret,
    description,
  }))
  const entries = records.flatMap((record) =>
    Object.entries(valueAt(config, record) as object).map(([name, value]: [string, unknown]) => ({
      key: `${record}.${name}`,
      value,
      source: path,
      secret: false,
      description: "",
    })),
  )
  return { config: Object.freeze(config), settings: [...settings, ...entries] }
}

/** The environment may name a file that has the secret: `@/run/secrets/token`. */
export const FILE_SIGN = "@"

function textIn(name: string, named: string): string {
  try {
    return readText(named.slice(FILE_SIGN.length), { links: "own" }).trim()
  } catch (error) {
    throw invalid(name, named, "the environment", `names an unreadable file: ${(error as Error).message}`)
  }
}

/** The environment variables of secret settings. */
export const secretVariables = () =>
  leavesOf(ConfigSchema)
    .filter(isHidden)
    .map(({ key }) => environmentName(key))

/** Shown in place of a secret. */
export const HIDDEN = "***"

const IN_FILE_ONLY = "can only be set in the file"

type Given = Map<string, { value: unknown; source: string }>

function refusal(
  issue: z.core.$ZodIssue,
  { given, leaves, path, text }: { given: Given; leaves: Leaf[]; path: string; text: string },
): Failure {
  const isUnknown = issue.code === "unrecognized_keys"
  const key = [...issue.path, ...(isUnknown ? [issue.keys[0]!] : [])].join(".")
  const cause = [...given].find(([name]) => name === key || name.startsWith(`${key}.`) || key.startsWith(`${name}.`))
  const record = leaves.find((leaf) => leaf.isRecord && key.startsWith(`${leaf.key}.`))
  // For a record, only the value in question.
  const value = record ? valueAt(cause?.[1].value, key.slice(record.key.length + 1)) : cause?.[1].value
  const known = record ? TEAM_KEYS : leaves.map((leaf) => leaf.key)
  const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message
  const why = isUnknown ? `is not a setting (known: ${known.join(", ")})` : message
  return invalid(
    key,
    shownValue(value, isSecret(leaves, key)),
    placeOf(cause?.[1].source ?? path, key, { path, text }),
    why,
  )
}

export function problemFailure(
  { key, value, why }: ConfigProblem,
  source: string,
  file: { path: string; text: string },
): Failure {
  return invalid(key, value, placeOf(source, key, file), why)
}

/** In the file, the line and column where the setting begins. */
function placeOf(source: string, key: string, { path, text }: { path: string; text: string }): string {
  const root = source === path ? parseTree(text, [], { allowTrailingComma: true }) : undefined
  const node = root && findNodeAtLocation(root, key.split("."))
  return node ? `${path}:${lineAndColumn(text, (node.parent ?? node).offset)}` : source
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n")
  return `${before.length}:${before.at(-1)!.length + 1}`
}

/** Hides passwords in URLs even under a mistyped key, which is not known to be secret. */
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
  description: string
  /** The name of the secret in a setting that is an object. */
  secretInside: string | undefined
  /** Its keys are names chosen by the user; set in the file only. */
  isRecord: boolean
}

function leavesOf(schema: z.ZodType, prefix = ""): Leaf[] {
  const bare = unwrap(schema)
  if (bare instanceof z.ZodObject)
    return Object.entries(bare.shape).flatMap(([name, inner]) =>
      leavesOf(inner as z.ZodType, prefix ? `${prefix}.${name}` : name),
    )
  const { secret, secretInside } = metaOf(schema)
  const isRecord = bare instanceof z.ZodRecord
  return [
    { key: prefix, schema: bare, secret: secret === true, description: describedAs(schema), secretInside, isRecord },
  ]
}

function describedAs(schema: z.ZodType): string {
  const inner =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
      ? (schema.unwrap() as z.ZodType)
      : undefined
  return schema.description ?? (inner ? describedAs(inner) : "")
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

const isHidden = ({ secret, secretInside }: Leaf) => secret || secretInside !== undefined
const isSecret = (leaves: Leaf[], key: string) =>
  leaves.some((leaf) =>
    leaf.secretInside === undefined
      ? leaf.key === key && leaf.secret
      : leaf.key === key || key.startsWith(`${leaf.key}.`),
  )
const masked = (value: unknown, name: string | undefined) =>
  name !== undefined && typeof value === "object" && value !== null && name in value
    ? { ...value, [name]: HIDDEN }
    : value
const shownValue = (value: unknown, secret: boolean) => (secret && value !== undefined ? HIDDEN : value)

/** `http.behindTls` is THROUGHLINE_HTTP_BEHIND_TLS. */
export function environmentName(key: string): string {
  return `THROUGHLINE_${key
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .replaceAll(".", "_")
    .toUpperCase()}`
}

/** A text that cannot be converted is returned unchanged, for the schema to report. */
function convert(text: string, { schema }: Leaf): unknown {
  if (schema instanceof z.ZodNumber) return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text)
  if (schema instanceof z.ZodBoolean)
    return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text
  if (schema instanceof z.ZodUnion && text.startsWith("{")) return parse(text)
  if (schema instanceof z.ZodArray) return text === "" ? [] : text.split(",").map((part) => part.trim())
  return text
}

export function readConfig(path: string): string {
  return existsSync(path) ? readText(path, { links: "own", ours: "mine" }) : ""
}

function fileSettings(path: string, text: string, records: string[]): [string, unknown][] {
  if (text.trim() === "") return []
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const error = errors[0]
  if (error) {
    const place = `${path}:${lineAndColumn(text, error.offset)}`
    throw new Failure("config_invalid", `${place}: ${printParseErrorCode(error.error)}`, { path, place })
  }
  if (value === undefined) return []
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("the file", value, path, "must hold an object")
  return flat(value, records)
}

function flat(value: object, records: string[], prefix = ""): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const key = prefix ? `${prefix}.${name}` : name
    const isObject = typeof inner === "object" && inner !== null && !Array.isArray(inner)
    const isDeeper = isObject && Object.keys(inner).length > 0 && !records.includes(key)
    return isDeeper ? flat(inner, records, key) : [[key, inner] as [string, unknown]]
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

export function valueAt(config: unknown, key: string): unknown {
  return key.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], config)
}
