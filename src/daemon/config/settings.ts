import { isAbsolute } from "node:path"
import * as z from "zod"
import { EmbedderSetting } from "../../adapters/embedders/list.ts"
import { DAY_MS, HOUR_MS } from "../../lib/time.ts"
import { TeamSettings } from "./team-settings.ts"
import { TelegramSettings } from "./telegram-settings.ts"

const group = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).prefault({} as never)
const int = (min: number, max: number, byDefault: number, about: string) =>
  z.int().min(min).max(max).default(byDefault).describe(about)
const number = (min: number, max: number, byDefault: number, about: string) =>
  z.number().min(min).max(max).default(byDefault).describe(about)
const positive = (max: number, byDefault: number, about: string) =>
  z.number().positive().max(max).default(byDefault).describe(about)
const toggle = (byDefault: boolean, about: string) => z.boolean().default(byDefault).describe(about)
const texts = (about: string, item: z.ZodString = z.string().min(1)) => z.array(item).default([]).describe(about)

const folder = z.string().refine((path) => /^~?\//.test(path) && !path.includes("\0"), "must start with / or ~/")

/** The whole configuration. Every key but teams can also be set as THROUGHLINE_<KEY> and by `--set key=value`. */
export const ConfigSchema = z.strictObject({
  database: group({
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, "must start with postgres://")
      .optional()
      .meta({ secret: true })
      .describe("PostgreSQL instead of the embedded SQLite"),
  }),
  http: group({
    enabled: toggle(true, "Serve HTTP in addition to the unix socket"),
    host: z.string().min(1).default("127.0.0.1").describe("Address to listen on"),
    port: int(0, 65535, 4747, "Port to listen on; 0 takes a free one"),
    hosts: texts("Additional host names that requests may use, such as a proxy's"),
    behindTls: toggle(false, "Confirms that a TLS proxy is in front; required for a non-loopback host"),
  }),
  log: group({ level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Log level") }),
  capture: group({
    enabled: toggle(true, "Store the conversations of the agents on this machine"),
    folders: z
      .array(folder)
      .max(200)
      .default([])
      .describe("Project folders whose conversation logs are read even before an agent was seen there"),
    exclude: texts("Folders to exclude, including everything below them"),
    redactionOff: texts("Folders whose conversations are stored unredacted, secrets included"),
    redactionExtra: texts("Additional secrets to redact: kind=regular expression"),
  }),
  resume: group({
    onStart: z
      .enum(["off", "pointer", "brief"])
      .default("pointer")
      .describe("What a new, cleared or compacted session is told about the project's last session"),
    maxTokens: int(50, 2_500, 800, "Maximum length of that"),
  }),
  embedder: EmbedderSetting.default("none")
    .meta({ secretInside: "apiKey" })
    .describe("Embedding model for search by meaning; without one, search uses keywords"),
  queue: group({
    duplicateWindowSeconds: number(
      0,
      31_536_000,
      600,
      "Reject the same text to the same target within this time (0 = allow)",
    ),
    maxMessageBytes: int(1, 1_000_000, 200_000, "Maximum message length"),
    expireDays: positive(3_650, 30, "Days until an undelivered message expires"),
    keepDays: number(
      0,
      100_000,
      30,
      "Days to keep finished messages, including messenger traffic; at least expireDays (0 = forever)",
    ),
  }),
  permissions: group({
    timeoutMinutes: positive(
      10_080,
      30,
      "Minutes until an unanswered request is denied, or left to the agent's own terminal",
    ),
    keepDays: number(0, 100_000, 90, "Days to keep decided requests; the audit log keeps them longer (0 = forever)"),
  }),
  telegram: TelegramSettings.prefault({}),
  maintenance: group({
    compactAfterTokens: int(0, 100_000_000, 150_000, "Compact an idle pair whose context is this large (0 = never)"),
    compactAfterMessages: int(0, 1_000_000, 0, "Compact a pair after this many messages (0 = never)"),
    continueAfterTokens: int(
      0,
      100_000_000,
      180_000,
      "Move a pair to a new session with a brief when its context is this large (0 = never)",
    ),
    archiveAfterDays: number(0, 100_000, 90, "Days until an unused pair is archived (0 = never)"),
  }),
  sessions: group({ archiveAfterDays: positive(100_000, 180, "Days until an unused session is archived") }),
  settings: group({
    maxProcesses: int(1, 1_000, 10, "Maximum number of agent processes for pairs"),
    idleTimeout: int(
      1_000,
      2_147_483_647,
      HOUR_MS,
      "Idle time (ms) after which such a process is ended; teams may override it",
    ),
    healthCheckInterval: int(1_000, DAY_MS, 30_000, "Interval (ms) between health checks"),
    prestart: int(0, 1_000, 0, "Number of most-used pairs whose processes start with the daemon"),
    allowedDirectories: texts(
      "Folders that team projects must be in (default: anywhere)",
      z.string().refine(isAbsolute, "must be an absolute path"),
    ),
  }),
  teams: TeamSettings.default({}).describe("Named projects with an agent (configuration file only)"),
})
export type Config = z.output<typeof ConfigSchema>
