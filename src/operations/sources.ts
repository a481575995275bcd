import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { operation } from "./operation.ts"
import type { Services } from "./services.ts"
import { table } from "./text.ts"

export const SourceView = z.object({
  platform: z.string(),
  label: z.string(),
  found: z.boolean(),
  sources: z.number(),
  sessions: z.number(),
  turns: z.number(),
  sizeBytes: z.number(),
  lastReadAt: z.string().optional(),
  /** Files that have changed and are not read yet. */
  waiting: z.number(),
  skipped: z.record(z.string(), z.number()),
  unknown: z.number(),
  unreadable: z.number(),
  troubles: z.array(z.object({ path: z.string(), trouble: z.string() })),
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
  summary: "Show every agent that is captured: what was found, kept and skipped",
  effect: "read",
  on: ["cli", "http"],
  input: z.strictObject({}),
  output: z.object({ sources: z.array(SourceView), progress: ProgressView }),
  text: ({ sources, progress }) => {
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
        ...s.troubles.map((t) => `${t.path}: ${t.trouble}`),
      ]
        .filter((part) => part !== "")
        .join("; ") || "-",
    ])
    const importing = progress.importing
      ? `\n\nImporting: ${progress.sourcesLeft} sources left, ${(progress.bytesLeft / 1e6).toFixed(0)} MB.`
      : ""
    return `${table(["AGENT", "FILES", "SESSIONS", "TURNS", "SIZE", "LAST READ", "LAG", "SKIPPED"], rows)}${importing}`
  },
  run: async ({ capture }) => ({ sources: await sourceViews(capture), progress: progressView(capture) }),
})

export const importNow = operation({
  name: "import",
  summary: "Look at every agent's files now, and wait until all is kept",
  effect: "write",
  on: ["cli", "http"],
  progress: { from: "sources", line: (output) => progressLine(output.progress as z.output<typeof ProgressView>) },
  input: z.strictObject({ platform: z.string().min(1).optional().describe("Only this agent") }),
  output: z.object({ sources: z.array(SourceView), progress: ProgressView }),
  text: ({ sources }) => {
    const total = (pick: (s: z.output<typeof SourceView>) => number) => sources.reduce((sum, s) => sum + pick(s), 0)
    return `Kept: ${total((s) => s.sessions)} sessions, ${total((s) => s.turns)} turns of ${sources.filter((s) => s.found).length} agents. \`throughline sources\` has the details.`
  },
  async run({ capture }, { platform }) {
    checkPlatform(capture, platform)
    await capture.capturing.sync(platform)
    return { sources: await sourceViews(capture), progress: progressView(capture) }
  },
})

type Capture = Services["capture"]

export function checkPlatform(capture: Capture, platform: string | undefined): void {
  if (platform === undefined || capture.platforms.some(({ id }) => id === platform)) return
  const known = capture.platforms.map(({ id }) => id).join(", ")
  throw new Failure("bad_input", `platform must be one of ${known}, got ${JSON.stringify(platform)}`, {
    parameter: "platform",
  })
}

export async function sourceViews(capture: Capture): Promise<z.output<typeof SourceView>[]> {
  const { waiting } = capture.capturing.progress()
  const summaries = new Map((await capture.sources()).map((summary) => [summary.platform, summary]))
  return capture.platforms.map(({ id, label }) => {
    const { lastReadAtMs, ...summary } = summaries.get(id) ?? { ...NOTHING, platform: id }
    return {
      ...summary,
      label,
      found: summary.sources > 0,
      waiting: waiting[id] ?? 0,
      ...(lastReadAtMs === null ? {} : { lastReadAt: new Date(lastReadAtMs).toISOString() }),
    }
  })
}

const NOTHING = {
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
  return { ...progress, startedAt: new Date(startedAtMs).toISOString() }
}

const BAR_CHARS = 24

/** `[######------]  52 %  310 of 600 MB  28 MB/s  10 s left  40 of 90 files  claude-code, codex` */
export function progressLine({
  bytesDone,
  bytesLeft,
  sourcesDone,
  sourcesLeft,
  startedAt,
  platforms,
}: z.output<typeof ProgressView>): string {
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
