import { isAbsolute } from "node:path"
import * as z from "zod"
import { EmbedderSetting } from "../adapters/embedders/list.ts"
import { TeamSettings } from "./team-settings.ts"
import { TelegramSettings } from "./telegram-settings.ts"

/** The whole configuration. Every key but teams can also be set as THROUGHLINE_<KEY> and by `--set key=value`. */
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
      folders: z
        .array(z.string().refine((path) => /^~?\//.test(path) && !path.includes("\0"), "must begin with / or ~/"))
        .max(200)
        .default([])
        .describe("Project folders whose conversation logs are read also where no agent was seen yet"),
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
  queue: z
    .strictObject({
      duplicateWindowSeconds: z
        .number()
        .min(0)
        .max(31_536_000)
        .default(600)
        .describe("The same text to the same team within this time is refused as a duplicate; 0 lets it through"),
      maxMessageBytes: z.int().min(1).max(1_000_000).default(200_000).describe("How long a message may be"),
      expireDays: z
        .number()
        .positive()
        .max(3_650)
        .default(30)
        .describe("A message that could not be delivered for so long expires"),
      keepDays: z
        .number()
        .min(0)
        .max(100_000)
        .default(30)
        .describe("What is over is dropped after so long, of messengers too, but not before expireDays; 0 never"),
    })
    .prefault({}),
  permissions: z
    .strictObject({
      timeoutMinutes: z
        .number()
        .positive()
        .max(10_080)
        .default(30)
        .describe("What nobody has answered for so long is denied, or left to the terminal where the agent has one"),
      keepDays: z
        .number()
        .min(0)
        .max(100_000)
        .default(90)
        .describe("What was decided is dropped after so long, and stays in the audit; 0 never"),
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
        .describe("A pair's session that carries so much is compacted when its agent idles; 0 never"),
      compactAfterMessages: z
        .int()
        .min(0)
        .max(1_000_000)
        .default(0)
        .describe("So is one with so many messages since it was compacted; 0 never"),
      continueAfterTokens: z
        .int()
        .min(0)
        .max(100_000_000)
        .default(180_000)
        .describe("A pair goes on in a new session with a brief of the old one when that carries so much; 0 never"),
      archiveAfterDays: z
        .number()
        .min(0)
        .max(100_000)
        .default(90)
        .describe("A pair that nobody used for so long is archived; 0 never"),
    })
    .prefault({}),
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
  settings: z
    .strictObject({
      maxProcesses: z
        .int()
        .min(1)
        .max(1_000)
        .default(10)
        .describe("How many agents may run at once for teams that are asked"),
      idleTimeout: z
        .int()
        .min(1_000)
        .max(2_147_483_647)
        .default(3_600_000)
        .describe("Milliseconds after which such an agent is ended when nobody asks it; teams may have their own"),
      healthCheckInterval: z
        .int()
        .min(1_000)
        .max(86_400_000)
        .default(30_000)
        .describe("Milliseconds between two looks at their processes and memory"),
      prestart: z
        .int()
        .min(0)
        .max(1_000)
        .default(0)
        .describe("How many of the pairs that are used most get their processes as soon as the daemon is there"),
      allowedDirectories: z
        .array(z.string().refine(isAbsolute, "must be an absolute path"))
        .default([])
        .describe("Folders below which the projects of teams must lie; anywhere, if none is named"),
    })
    .prefault({}),
  teams: TeamSettings.default({}).describe("Named projects with an agent; in the file only"),
})
export type Config = z.output<typeof ConfigSchema>
