import * as z from "zod"
import { neededAgent } from "../domain/agent-names.ts"
import { shellWord } from "../domain/platform.ts"
import { isUnfamiliar, OVER_LIMIT, recordsOf, type SourceSummary, unknownKinds } from "../domain/source.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import { AGENTS_WRITE, ANYONE_READS, OWNER_WRITES, operation } from "./operation.ts"
import type { Services } from "./services.ts"
import { counted, table } from "./text.ts"

export const SourceView = z.object({
  platform: z.string(),
  label: z.string(),
  found: z.boolean(),
  sources: z.number(),
  sessions: z.number(),
  turns: z.number(),
  sizeBytes: z.number(),
  lastReadAt: z.string().optional(),
  /** Changed files that are not read yet. */
  waiting: z.number(),
  skipped: z.record(z.string(), z.number()),
  unknown: z.number(),
  unreadable: z.number(),
  troubles: z.array(z.object({ path: z.string(), trouble: z.string() })),
  /** The newest agent version whose records were verified. */
  verified: z.string(),
  /** Why its records look unfamiliar, if they do. */
  warning: z.string().optional(),
})

const ProgressView = z.object({
  importing: z.boolean(),
  sourcesDone: z.number(),
  sourcesLeft: z.number(),
  bytesDone: z.number(),
  bytesLeft: z.number(),
  turns: z.number(),
  startedAt: z.string(),
  platforms: z.array(z.string()),
})

export const sources = operation({
  name: "sources",
  summary: "List the watched agents: what was found, stored and skipped",
  ...ANYONE_READS,
  input: z.strictObject({}),
  output: z.object({
    sources: z.array(SourceView),
    progress: ProgressView,
    /** Files in project folders; untrusted unless a person trusts the folder. */
    repositoryFiles: z.array(z.object({ platform: z.string(), path: z.string(), trusted: z.boolean() })),
    trusted: z.array(z.object({ path: z.string(), since: z.string() })),
  }),
  text: ({ sources, progress, repositoryFiles, trusted }) => {
    const rows = sources.map((s) => [
      s.label,
      s.found ? String(s.sources) : "-",
      String(s.sessions),
      String(s.turns),
      s.found ? `${(s.sizeBytes / 1e6).toFixed(1)} MB` : "-",
      s.lastReadAt?.slice(0, 19).replace("T", " ") ?? "-",
      s.waiting === 0 ? "-" : `${s.waiting} waiting`,
      [
        s.unreadable > 0 ? `${s.unreadable} unreadable lines` : "",
        s.unknown > 0 ? `${s.unknown} of unknown kind` : "",
        ...Object.values(OVER_LIMIT).flatMap((kind) => (s.skipped[kind] ? [`${s.skipped[kind]} × ${kind}`] : [])),
        ...s.troubles.map((t) => `${t.path}: ${t.trouble}`),
      ]
        .filter((part) => part !== "")
        .join("; ") || "-",
    ])
    const importing = progress.importing
      ? `\n\nImporting: ${progress.sourcesLeft} sources left, ${(progress.bytesLeft / 1e6).toFixed(0)} MB.`
      : ""
    const warnings = sources.flatMap(({ label, warning }) => (warning === undefined ? [] : [`${label}: ${warning}`]))
    const notes = warnings.length === 0 ? "" : `\n\n${warnings.join("\n")}\n${UNFAMILIAR_REMEDY}`
    return `${table(["AGENT", "FILES", "SESSIONS", "TURNS", "SIZE", "LAST READ", "LAG", "SKIPPED"], rows)}${notes}${repositoryLines(repositoryFiles, trusted)}${importing}`
  },
  async run({ capture }) {
    const { files, trusted } = await capture.origins.list()
    return {
      sources: await sourceViews(capture),
      progress: progressView(capture),
      repositoryFiles: files.map(({ platform, path, isTrusted }) => ({ platform, path, trusted: isTrusted })),
      trusted: trusted.map(({ path, atMs }) => ({ path, since: isoTime(atMs) })),
    }
  },
})

const TrustView = z.object({ path: z.string(), files: z.number() })
const trustedPath = z.string().min(1).max(4096).describe("A project folder, or a file in it")

export const sourcesTrust = operation({
  name: "sources.trust",
  summary: "Trust the conversations in a project's own folder like those of your agents",
  ...OWNER_WRITES,
  positional: ["path"],
  input: z.strictObject({ path: trustedPath }),
  output: TrustView,
  text: ({ path, files }) =>
    `Trusted: ${path} (${counted(files, "file")} so far). To undo: throughline sources untrust ${shellWord(path)}`,
  run: ({ capture }, { path }, caller) => capture.origins.trust(path, caller.cwd),
})

export const sourcesUntrust = operation({
  name: "sources.untrust",
  summary: "Stop trusting the conversations in a project's own folder",
  ...OWNER_WRITES,
  positional: ["path"],
  input: z.strictObject({ path: trustedPath }),
  output: TrustView,
  text: ({ path, files }) => `No longer trusted: ${path} (${counted(files, "file")}).`,
  run: ({ capture }, { path }, caller) => capture.origins.distrust(path, caller.cwd),
})

const MOST_LISTED = 20

function repositoryLines(
  files: { platform: string; path: string; trusted: boolean }[],
  trusted: { path: string }[],
): string {
  if (files.length === 0 && trusted.length === 0) return ""
  const rows = files
    .slice(0, MOST_LISTED)
    .map((file) => [file.trusted ? "trusted" : "untrusted", file.platform, file.path])
  const more = files.length > rows.length ? [`and ${files.length - rows.length} more; --json lists all`] : []
  return [
    "\n\nConversations in project folders. Untrusted ones are marked in search and left out of briefs;",
    "trust a folder with `throughline sources trust <folder>`.",
    ...(rows.length === 0 ? [] : [table(["", "AGENT", "FILE"], rows)]),
    ...more,
    ...(trusted.length === 0 ? [] : [`Trusted folders: ${trusted.map(({ path }) => path).join(", ")}`]),
  ].join("\n")
}

export const importNow = operation({
  name: "import",
  summary: "Import agents' files now; wait until everything is imported",
  ...AGENTS_WRITE,
  progress: { from: "sources", line: (output) => progressLine(output.progress as z.output<typeof ProgressView>) },
  input: z.strictObject({ platform: z.string().min(1).optional().describe("Only this agent") }),
  output: z.object({ sources: z.array(SourceView), progress: ProgressView }),
  text: ({ sources }) => {
    const total = (pick: (s: z.output<typeof SourceView>) => number) => sources.reduce((sum, s) => sum + pick(s), 0)
    return `Imported: ${total((s) => s.sessions)} sessions, ${total((s) => s.turns)} turns of ${sources.filter((s) => s.found).length} agents. \`throughline sources\` has the details.`
  },
  async run({ capture }, { platform }, caller) {
    // Includes the caller's folder even before anything from it is stored.
    await capture.folders.follow(caller)
    await capture.capturing.sync(platformNamed(capture, platform))
    return { sources: await sourceViews(capture), progress: progressView(capture) }
  },
})

/** What to do if an agent's records look unfamiliar. */
export const UNFAMILIAR_REMEDY =
  "Update Throughline; if it is up to date, report this with the output of `throughline sources --json`. Whatever can be read is stored."

type Capture = Services["capture"]

/** The agent's id; undefined if none was given. */
export function platformNamed<Name extends string | undefined>(
  capture: Capture,
  name: Name,
): string | (Name & undefined) {
  if (name === undefined) return name
  // Sessions with only thoughts are Throughline's own.
  return neededAgent([...capture.platforms, { id: "throughline", label: "Throughline" }], name, "platform")
}

export async function sourceViews(capture: Capture): Promise<z.output<typeof SourceView>[]> {
  const { waiting } = capture.capturing.progress()
  const summaries = new Map((await capture.sources()).map((summary) => [summary.platform, summary]))
  return capture.platforms.map(({ id, label, verified }) => {
    const { lastReadAtMs, recent, ...summary } = summaries.get(id) ?? { ...NOTHING, platform: id }
    // Lists folders of the agent, which costs more than all the rest here.
    const unrecognised = summary.sources === 0 ? capture.unrecognised(id) : []
    const warning = warningOf({ ...summary, recent }, verified, unrecognised)
    return {
      ...summary,
      ...present({ label, verified, warning, lastReadAt: isoTime(lastReadAtMs) }),
      found: summary.sources > 0,
      waiting: waiting[id] ?? 0,
    }
  })
}

/** An updated agent may write records that its adapter does not know; that must be visible. */
function warningOf(
  summary: Pick<SourceSummary, "turns" | "skipped" | "unknown" | "unreadable" | "recent" | "sources">,
  verified: string,
  unrecognised: string[],
): string | undefined {
  const readUpTo = `Throughline was verified with ${verified}`
  if (unrecognised.length > 0)
    return `files exist, but none looks like a readable conversation (such as ${unrecognised[0]}). ${readUpTo}.`
  const whole = { unknown: summary.unknown, records: recordsOf(summary) }
  const unusual = [whole, summary.recent].find(isUnfamiliar)
  if (!unusual) return undefined
  const share = ((unusual.unknown / unusual.records) * 100).toFixed(1)
  const kinds = unknownKinds(summary.skipped).slice(0, 3).join(", ")
  const since = unusual === whole ? "" : " of the last week"
  return `${unusual.unknown} of ${unusual.records} records${since} (${share} %) are of an unknown kind${kinds === "" ? "" : ` (${kinds})`}. ${readUpTo}.`
}

const NOTHING = {
  recent: { unknown: 0, records: 0 },
  lastReadAtMs: null,
  sources: 0,
  sessions: 0,
  turns: 0,
  sizeBytes: 0,
  skipped: {},
  unknown: 0,
  unreadable: 0,
  troubles: [],
}

function progressView({ capturing }: Capture): z.output<typeof ProgressView> {
  const { startedAtMs, waiting: _, ...progress } = capturing.progress()
  return { ...progress, startedAt: isoTime(startedAtMs) }
}

const BAR_CHARS = 24

/** `[######------]  52 %  310 of 600 MB  28 MB/s  10 s left  40 of 90 files  claude-code, codex` */
export function progressLine(progress: z.output<typeof ProgressView>): string {
  const { bytesDone, bytesLeft, sourcesDone, sourcesLeft, startedAt, platforms } = progress
  const total = bytesDone + bytesLeft
  const files = sourcesDone + sourcesLeft
  const isSmall = total < 1e6
  const share = isSmall ? (files === 0 ? 1 : sourcesDone / files) : bytesDone / total
  const filled = Math.round(share * BAR_CHARS)
  const seconds = Math.max(0.001, (Date.now() - Date.parse(startedAt)) / 1000)
  const perSecond = bytesDone / seconds
  const mb = (bytes: number) => Math.round(bytes / 1e6)
  return [
    `[${"#".repeat(filled)}${"-".repeat(BAR_CHARS - filled)}]`,
    `${Math.floor(share * 100)} %`,
    isSmall ? "" : `${mb(bytesDone)} of ${mb(total)} MB`,
    isSmall ? "" : `${mb(perSecond)} MB/s`,
    !isSmall && bytesLeft > 0 && perSecond > 0 ? `${Math.ceil(bytesLeft / perSecond)} s left` : "",
    `${sourcesDone} of ${files} files`,
    platforms.join(", ") || "looking",
  ]
    .filter((part) => part !== "")
    .join("  ")
}
