import * as z from "zod"
import { VERBOSITIES } from "../domain/topic.ts"

export const CHAT = /^-?\d+$/
export const USER = /^\d+$/

/** How sessions are reached by Telegram. Without a token nothing is asked of it, and nothing is sent. */
export const TelegramSettings = z.strictObject({
  token: z
    .string()
    .regex(/^\d+:[\w-]{20,}$/, "must look like 123456:ABC…, as BotFather tells it")
    .optional()
    .meta({ secret: true })
    .describe("The bot's token; `throughline telegram setup` asks for it"),
  apiRoot: z.url().default("https://api.telegram.org").describe("Another Bot API server"),
  chat: z
    .string()
    .regex(CHAT, "must be the number of a group, such as -1001234567890")
    .optional()
    .describe("The group with topics; without one, topics are made in the private chat of the first person"),
  users: z
    .array(z.string().regex(USER, "must be the number of a Telegram user"))
    .default([])
    .describe("Who may talk to sessions, beside those who were paired"),
  mirror: z
    .enum(["all", "teams", "off"])
    .default("all")
    .describe("Which sessions get a topic: those at which somebody sits, those of teams among them, or none"),
  verbosity: z
    .enum(VERBOSITIES)
    .default("normal")
    .describe(
      "What is told in a new topic: quiet only what needs a person, normal also what was said and a line for each tool",
    ),
  atEnd: z
    .enum(["archive", "keep", "delete"])
    .default("archive")
    .describe("What happens to the topic of a session that ended: closed and renamed, left alone, or deleted"),
  approvals: z.boolean().default(true).describe("Show what agents ask to be allowed, with buttons"),
  transcriber: z
    .array(z.string().min(1))
    .default([])
    .describe("A command that prints what is said in the voice message whose path it is given as its last argument"),
})
