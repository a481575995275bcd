// Writes the pages of docs/reference from what the program says of itself: its operations and its settings.
// `node scripts/reference.ts`; test/docs.test.ts fails while a page differs.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import * as z from "zod"
import { modules } from "../.dependency-cruiser.ts"
import { environmentName, loadConfig } from "../src/daemon/config/config.ts"
import { ConfigSchema } from "../src/daemon/config/settings.ts"
import { TeamSettingSchema } from "../src/daemon/config/team-settings.ts"
import { type CallerKind, mayCall } from "../src/domain/caller.ts"
import { operations } from "../src/operations/list.ts"
import { commandsOf, type Operation, TOOL_SETS } from "../src/operations/operation.ts"

const MADE = "<!-- Made by scripts/reference.ts; do not edit. -->"

/** Each page by its path. */
export const pages: Record<string, () => string> = {
  "docs/reference/operations.md": operationsPage,
  "docs/reference/configuration.md": configurationPage,
  "docs/security.md": () => withPart("docs/security.md", "table", callersTable("reference/operations.md")),
  "docs/architecture.md": () => withPart("docs/architecture.md", "picture", modulesPicture()),
}

/** A page that is written by hand, but for one part. */
function withPart(path: string, part: string, lines: string[]): string {
  const page = readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8")
  const [begin, end] = [`<!-- The ${part} is made by scripts/reference.ts. -->`, `<!-- End of the ${part}. -->`]
  const [before] = page.split(begin)
  const [, after] = page.split(end)
  if (before === page || after === undefined) throw new Error(`${path} has lost the marks of its ${part}`)
  return [before, begin, "\n", lines.join("\n"), "\n", end, after].join("")
}

/** Who may import whom, by the table that is checked. What follows from other arrows has none of its own. */
function modulesPicture(): string[] {
  const groups = Map.groupBy(Object.keys(modules), (name) => JSON.stringify(modules[name]))
  const groupOf = (name: string) => [...groups.values()].find((names) => names.includes(name))?.[0] ?? name
  const next = (name: string, key: "imports" | "types" = "imports") => [
    ...new Set((modules[name]?.[key] ?? []).map(groupOf)),
  ]
  const reached = (name: string): string[] => next(name).flatMap((other) => [other, ...reached(other)])
  const box = (names: string[]) => `  ${names[0]}["${names.join(" · ")}"]`
  const arrows = [...groups.values()].flatMap(([first]) => {
    const direct = next(first!).filter((one) => !next(first!).some((other) => reached(other).includes(one)))
    return [
      ...direct.map((other) => `  ${first} --> ${other}`),
      ...next(first!, "types").map((other) => `  ${first} -. types .-> ${other}`),
    ]
  })
  return ["```mermaid", "flowchart TD", ...[...groups.values()].map(box), ...arrows, "```"]
}

function operationsPage(): string {
  const tools = TOOL_SETS.flatMap((set) => {
    const members = operations.filter((op) => op.on.includes("mcp") && op.tool?.set === set)
    return [`- \`${set}\`: ${members.map(({ name }) => `[\`${name}\`](#${anchor(name)})`).join(", ")}`]
  })
  return [
    "# Everything that can be asked",
    MADE,
    "",
    "Each of these is described once in `src/operations/`; the tool, the command and the route all derive from it. Over HTTP it is",
    "`POST /api/<name>` with the input as JSON and the bearer token; every command takes `--json`.",
    "",
    "Sets of tools, as `throughline mcp --tools` picks them:",
    "",
    ...tools,
    "",
    "## Who may call what",
    "",
    ...callersTable(),
    "",
    ...operations.flatMap(operationPart),
  ].join("\n")
}

/** Every operation and every kind of caller, from the check that the program itself makes. */
function callersTable(page = ""): string[] {
  const kinds: [title: string, kind: CallerKind][] = [
    ["Owner", "owner"],
    ["Agent", "agent"],
    ["Token holder", "client"],
  ]
  return [
    row(["Operation", ...kinds.map(([title]) => title), "Effect", "Audited"]),
    row(["---", ...kinds.map(() => "---"), "---", "---"]),
    ...operations.map((op) =>
      row([
        `[${code(op.name)}](${page}#${anchor(op.name)})`,
        ...kinds.map(([, kind]) => (mayCall(op.access, kind) ? "yes" : "no")),
        { read: "reads", write: "writes", destroy: "deletes" }[op.effect],
        op.access === "owner" && op.effect !== "read" ? "yes" : "",
      ]),
    ),
    "",
    "Where the name does not tell why:",
    "",
    ...operations.flatMap(({ name, access, accessReason }) =>
      accessReason === undefined
        ? []
        : [`- ${code(name)}, ${WHO[access].toLowerCase().replace(/\.$/, "")}: ${accessReason}.`],
    ),
  ]
}

function operationPart(op: Operation): string[] {
  const surfaces = [
    ...(op.on.includes("mcp") ? ["tool"] : []),
    ...(op.on.includes("cli") ? commandsOf(op).map((command) => `\`throughline ${usage(op, command)}\``) : []),
    ...(op.on.includes("http") || op.on.includes("cli") ? ["HTTP"] : []),
  ]
  return [
    `## ${op.name}`,
    "",
    `${sentence(op.summary)} *${{ read: "Reads only.", write: "Writes.", destroy: "Destroys." }[op.effect]}* ${WHO[op.access]} ${surfaces.join(" · ")}`,
    "",
    ...fields(op.input),
    `Answers: ${Object.keys(op.output.shape).map(code).join(", ") || "nothing"}.`,
    "",
  ]
}

const WHO = { anyone: "For anyone.", agent: "For agents and the owner.", owner: "For the owner only." }

function fields(input: z.ZodObject): string[] {
  const json = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Json
  const required = new Set(json.required ?? [])
  const rows = Object.entries(json.properties ?? {}).map(([name, field]) =>
    row([
      `${code(name)}${required.has(name) ? " *" : ""}`,
      kind(field),
      shownDefault(field),
      sentence(field.description ?? ""),
    ]),
  )
  return rows.length === 0
    ? []
    : [row(["Input", "Kind", "Default", "For"]), row(["---", "---", "---", "---"]), ...rows, ""]
}

function configurationPage(): string {
  const { settings } = loadConfig({ path: "/nowhere/config.json", environment: {}, flags: [] })
  const json = z.toJSONSchema(ConfigSchema, { io: "input", unrepresentable: "any" }) as Json
  const team = z.toJSONSchema(TeamSettingSchema, { io: "input", unrepresentable: "any" }) as Json
  const rows = settings.map(({ key, value, secret }) => {
    const field = key.split(".").reduce<Json>((at, name) => at.properties?.[name] ?? {}, json)
    const shown = value === undefined ? "" : code(JSON.stringify(value))
    return row([
      code(key),
      kind(field),
      shown,
      `${sentence(field.description ?? "")}${secret ? " A secret: never shown." : ""}`,
    ])
  })
  const required = new Set(team.required ?? [])
  return [
    "# Every setting",
    MADE,
    "",
    "In `config.json` of Throughline's data directory (`~/.throughline`, or `THROUGHLINE_HOME`), JSON with comments. Each can also be given in the",
    `environment, \`${environmentName("http.port")}\` for \`http.port\`, and for one run by \`throughline start --set http.port=5000\`. Flags win over the`,
    "environment, the environment over the file. `throughline config` shows the effective settings and where they come from. Teams count as soon as",
    "the file is saved; everything else counts from the next start.",
    "",
    "**Secrets belong into the file**, which only you can read. A secret in the environment may also be the path of a file that holds it,",
    `after an \`@\`: \`${environmentName("telegram.token")}=@/run/secrets/bot\`. One that stands there itself is put into a file of`,
    "`secrets/` in the data directory when the daemon starts, and agents that the daemon starts get that path and not the secret.",
    "",
    row(["Setting", "Kind", "Default", "For"]),
    row(["---", "---", "---", "---"]),
    ...rows,
    "",
    "## teams.<name>",
    "",
    row(["Key", "Kind", "Default", "For"]),
    row(["---", "---", "---", "---"]),
    ...Object.entries(team.properties ?? {}).map(([name, field]) =>
      row([
        `${code(name)}${required.has(name) ? " *" : ""}`,
        kind(field),
        shownDefault(field),
        sentence(field.description ?? ""),
      ]),
    ),
    "",
  ].join("\n")
}

interface Json {
  type?: string | string[]
  description?: string
  default?: unknown
  enum?: unknown[]
  const?: unknown
  anyOf?: Json[]
  items?: Json
  properties?: Record<string, Json>
  required?: string[]
  minimum?: number
  maximum?: number
}

/** The largest number that counts exactly: it stands where nobody set a limit. */
const UNLIMITED = Number.MAX_SAFE_INTEGER

function kind({ type, enum: values, const: only, anyOf, items, minimum, maximum }: Json): string {
  if (values) return values.map((value) => code(String(value))).join(" or ")
  if (only !== undefined) return code(String(only))
  if (anyOf) return [...new Set(anyOf.map(kind))].join(" or ")
  if (items) return `list of ${kind(items)}`
  if (type !== "integer" && type !== "number") return { boolean: "yes or no", object: "object" }[String(type)] ?? "text"
  const from = minimum === undefined || minimum <= -UNLIMITED ? "" : minimum.toLocaleString("en")
  const to = maximum === undefined || maximum >= UNLIMITED ? "" : maximum.toLocaleString("en")
  const name = type === "integer" ? "whole number" : "number"
  if (from !== "" && to !== "") return `${name}, ${from} to ${to}`
  return from === "" ? (to === "" ? name : `${name}, at most ${to}`) : `${name}, at least ${from}`
}

function usage(op: Operation, command: string): string {
  const json = z.toJSONSchema(op.input, { io: "input", unrepresentable: "any" }) as Json
  const words = (op.positional ?? []).map((name) => (json.required?.includes(name) ? `<${name}>` : `[${name}]`))
  return [command, ...words].join(" ")
}

const anchor = (name: string) => name.toLowerCase().replaceAll(".", "")
const code = (text: string) => `\`${text}\``
const sentence = (text: string) => (text === "" || /[.!?)]$/.test(text) ? text : `${text}.`)
const row = (cells: string[]) =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`
const shownDefault = ({ default: value }: Json) =>
  value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0)
    ? ""
    : code(JSON.stringify(value))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, make] of Object.entries(pages)) {
    const file = fileURLToPath(new URL(`../${path}`, import.meta.url))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, make())
  }
}
