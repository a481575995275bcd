import * as z from "zod"
import { VERBOSITIES } from "../../domain/topic.ts"

export const CHAT = /^-?\d+$/
export const USER = /^\d+$/

/** Telegram is off without a token. */
export const TelegramSettings = z.strictObject({
  token: z
    .string()
    .regex(/^\d+:[\w-]{20,}$/, "must look like 123456:ABC…, as given by @BotFather")
    .optional()
    .meta({ secret: true })
    .describe("The bot's token; set it with `throughline telegram setup`"),
  apiRoot: z.url().default("https://api.telegram.org").describe("Another Bot API server"),
  chat: z
    .string()
    .regex(CHAT, "must be the number of a group, such as -1001234567890")
    .optional()
    .describe("Group with topics; without one, topics are created in the first person's private chat"),
  users: z
    .array(z.string().regex(USER, "must be the number of a Telegram user"))
    .default([])
    .describe("People who can message sessions, in addition to paired ones"),
  mirror: z
    .enum(["all", "teams", "off"])
    .default("all")
    .describe("Which sessions get a topic: interactive ones, those of teams only, or none"),
  verbosity: z
    .enum(VERBOSITIES)
    .default("normal")
    .describe(
      "Verbosity of a new topic: quiet shows only what needs a person; normal also shows the conversation and a line per tool call",
    ),
  atEnd: z
    .enum(["archive", "keep", "delete"])
    .default("archive")
    .describe("What happens to the topic of an ended session: closed and renamed, left unchanged, or deleted"),
  approvals: z.boolean().default(true).describe("Show permission requests, with buttons"),
  transcriber: z
    .array(z.string().min(1))
    .default([])
    .describe("Command that transcribes a voice message; it gets the file's path as its last argument"),
})
