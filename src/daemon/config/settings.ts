import { isAbsolute } from "node:path"
import * as z from "zod"
import { EmbedderSetting } from "../../adapters/embedders/list.ts"
import { DAY_MS, HOUR_MS } from "../../lib/time.ts"
import { TeamSettings } from "./team-settings.ts"
import { TelegramSettings } from "./telegram-settings.ts"

/** The whole configuration. Every key but teams can also be set as THROUGHLINE_<KEY> and by `--set key=value`. */
export const ConfigSchema = z.strictObject({
  database: z
    .strictObject({
      url: z
        .string()
        .regex(/^postgres(ql)?:\/\//, "must start with postgres://")
        .optional()
        .meta({ secret: true })
        .describe("PostgreSQL instead of the embedded SQLite"),
    })
    .prefault({}),
  http: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Serve HTTP in addition to the unix socket"),
      host: z.string().min(1).default("127.0.0.1").describe("Address to listen on"),
      port: z.int().min(0).max(65535).default(4747).describe("Port to listen on; 0 takes a free one"),
      hosts: z
        .array(z.string().min(1))
        .default([])
        .describe("Additional host names that requests may use, such as a proxy's"),
      behindTls: z
        .boolean()
        .default(false)
        .describe("Confirms that a TLS proxy is in front; required for a non-loopback host"),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Log level"),
    })
    .prefault({}),
  capture: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Store the conversations of the agents on this machine"),
      folders: z
        .array(z.string().refine((path) => /^~?\//.test(path) && !path.includes("\0"), "must start with / or ~/"))
        .max(200)
        .default([])
        .describe("Project folders whose conversation logs are read even before an agent was seen there"),
      exclude: z.array(z.string().min(1)).default([]).describe("Folders to exclude, including everything below them"),
      redactionOff: z
        .array(z.string().min(1))
        .default([])
        .describe("Folders whose conversations are stored unredacted, secrets included"),
      redactionExtra: z
        .array(z.string().min(1))
        .default([])
        .describe("Additional secrets to redact: kind=regular expression"),
    })
    .prefault({}),
  resume: z
    .strictObject({
      onStart: z
        .enum(["off", "pointer", "brief"])
        .default("pointer")
        .describe("What a new, cleared or compacted session is told about the project's last session"),
      maxTokens: z.int().min(50).max(2_500).default(800).describe("Maximum length of that"),
    })
    .prefault({}),
  embedder: EmbedderSetting.default("none")
    .meta({ secretInside: "apiKey" })
    .describe("Embedding model for search by meaning; without one, search uses keywords"),
  queue: z
    .strictObject({
      duplicateWindowSeconds: z
        .number()
        .min(0)
        .max(31_536_000)
        .default(600)
        .describe("Reject the same text to the same target within this time (0 = allow)"),
      maxMessageBytes: z.int().min(1).max(1_000_000).default(200_000).describe("Maximum message length"),
      expireDays: z.number().positive().max(3_650).default(30).describe("Days until an undelivered message expires"),
      keepDays: z
        .number()
        .min(0)
        .max(100_000)
        .default(30)
        .describe("Days to keep finished messages, including messenger traffic; at least expireDays (0 = forever)"),
    })
    .prefault({}),
  permissions: z
    .strictObject({
      timeoutMinutes: z
        .number()
        .positive()
        .max(10_080)
        .default(30)
        .describe("Minutes until an unanswered request is denied, or left to the agent's own terminal"),
      keepDays: z
        .number()
        .min(0)
        .max(100_000)
        .default(90)
        .describe("Days to keep decided requests; the audit log keeps them longer (0 = forever)"),
    })
    .prefault({}),
  telegram: TelegramSettings.prefault({}),
  maintenance: z
    .strictObject({
      compactAfterTokens: z
        .int()
        .min(0)
        .max(100_000_000)
        .default(150_000)
        .describe("Compact an idle pair whose context is this large (0 = never)"),
      compactAfterMessages: z
        .int()
        .min(0)
        .max(1_000_000)
        .default(0)
        .describe("Compact a pair after this many messages (0 = never)"),
      continueAfterTokens: z
        .int()
        .min(0)
        .max(100_000_000)
        .default(180_000)
        .describe("Move a pair to a new session with a brief when its context is this large (0 = never)"),
      archiveAfterDays: z
        .number()
        .min(0)
        .max(100_000)
        .default(90)
        .describe("Days until an unused pair is archived (0 = never)"),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      archiveAfterDays: z
        .number()
        .positive()
        .max(100_000)
        .default(180)
        .describe("Days until an unused session is archived"),
    })
    .prefault({}),
  settings: z
    .strictObject({
      maxProcesses: z.int().min(1).max(1_000).default(10).describe("Maximum number of agent processes for pairs"),
      idleTimeout: z
        .int()
        .min(1_000)
        .max(2_147_483_647)
        .default(HOUR_MS)
        .describe("Idle time (ms) after which such a process is ended; teams may override it"),
      healthCheckInterval: z
        .int()
        .min(1_000)
        .max(DAY_MS)
        .default(30_000)
        .describe("Interval (ms) between health checks"),
      prestart: z
        .int()
        .min(0)
        .max(1_000)
        .default(0)
        .describe("Number of most-used pairs whose processes start with the daemon"),
      allowedDirectories: z
        .array(z.string().refine(isAbsolute, "must be an absolute path"))
        .default([])
        .describe("Folders that team projects must be in (default: anywhere)"),
    })
    .prefault({}),
  teams: TeamSettings.default({}).describe("Named projects with an agent (configuration file only)"),
})
export type Config = z.output<typeof ConfigSchema>
