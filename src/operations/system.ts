import * as z from "zod"
import { BOT_STATES } from "../domain/channel-store.ts"
import { ANYONE_READS, operation, PAGES_READ } from "./operation.ts"
import { botLine } from "./telegram.ts"
import { counted, minute } from "./text.ts"

const StatusView = z.object({
  id: z.string(),
  version: z.string(),
  pid: z.number(),
  startedAt: z.string(),
  home: z.string(),
  socket: z.string(),
  http: z.object({ url: z.string().optional(), trouble: z.string().optional() }),
  memoryMb: z.number(),
  store: z.object({
    kind: z.string(),
    place: z.string(),
    version: z.string(),
    sizeBytes: z.number(),
    sessions: z.number(),
    thoughts: z.number(),
    journal: z.number(),
    /** Why it does not answer; the numbers are unknown then. */
    trouble: z.string().optional(),
  }),
  search: z.object({
    place: z.string(),
    /** Indexed turns and thoughts. */
    documents: z.number().optional(),
    /** Journal entries that are not indexed yet. */
    behind: z.number().optional(),
    /** Why it is being rebuilt. */
    rebuilding: z.string().optional(),
    trouble: z.string().optional(),
  }),
  followers: z.array(z.object({ name: z.string(), lag: z.number() })),
  telegram: z
    .object({
      id: z.string(),
      state: z.enum([...BOT_STATES, "new"]),
      why: z.string().optional(),
      since: z.string().optional(),
    })
    .optional(),
  /** The daemon's background loops. */
  loops: z.array(
    z.object({
      name: z.string(),
      state: z.enum(["running", "restarting", "stalled"]),
      restarts: z.number(),
      since: z.string().optional(),
      error: z.string().optional(),
    }),
  ),
  /** Uncaught errors. */
  bugs: z.object({ count: z.number(), last: z.object({ at: z.string(), message: z.string() }).optional() }),
  notices: z.array(z.string()),
})
export type SystemStatus = z.output<typeof StatusView>

const FindingView = z.object({
  check: z.string(),
  state: z.enum(["good", "warning", "wrong"]),
  detail: z.string(),
  remedy: z.string().optional(),
})
export type SystemFinding = z.output<typeof FindingView>

export const status = operation({
  name: "status",
  summary: "Show the daemon's state and what it stores",
  ...ANYONE_READS,
  startsDaemon: false,
  input: z.strictObject({}),
  output: StatusView,
  text: (s) =>
    [
      `Throughline ${s.version} is running (pid ${s.pid}, since ${minute(s.startedAt)}, ${s.memoryMb} MB)`,
      `  data    ${s.home}`,
      `  socket  ${s.socket}`,
      `  http    ${s.http.url ?? s.http.trouble ?? "off"}`,
      ...storeLines(s.store),
      `  search  ${searchState(s.search)}`,
      ...(s.telegram ? [`  phone   ${botLine(s.telegram)}`] : []),
      ...s.loops
        .filter(({ state }) => state !== "running")
        .map(({ name, state, error }) => `  !       ${name}: ${state}${error === undefined ? "" : ` (${error})`}`),
      ...s.notices.map((notice) => `  !       ${notice}`),
    ].join("\n"),
  run: ({ system }) => system.status(),
})

function storeLines({ kind, version, sizeBytes, place, trouble, ...kept }: SystemStatus["store"]): string[] {
  if (trouble !== undefined) return [`  store   ${kind}, ${place}: ${trouble}`]
  const entries = counted(kept.journal, "journal entry", "journal entries")
  return [
    `  store   ${kind} ${version}, ${(sizeBytes / 1e6).toFixed(1)} MB, ${place}`,
    `  stored  ${counted(kept.sessions, "session")}, ${counted(kept.thoughts, "thought")}, ${entries}`,
  ]
}

/** The state of the search index in a few words. */
export function searchState({ documents = 0, behind = 0, rebuilding, trouble }: SystemStatus["search"]): string {
  if (trouble !== undefined) return `does not work: ${trouble}`
  const left = behind === 0 ? "up to date" : `${counted(behind, "journal entry", "journal entries")} behind`
  const found = `${documents} turns and thoughts, ${left}`
  return rebuilding === undefined ? found : `rebuilding (${rebuilding}): ${found}`
}

export const doctor = operation({
  name: "doctor",
  summary: "Check for problems and suggest fixes",
  ...PAGES_READ,
  input: z.strictObject({}),
  output: z.object({
    findings: z.array(FindingView),
    verdict: z.string(),
  }),
  text: ({ verdict }) => verdict,
  run: ({ system }) => system.examine(),
})
