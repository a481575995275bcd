import { isAbsolute } from "node:path"
import * as z from "zod"
import { platforms } from "../../agents/list.ts"
import { agentNamed } from "../../domain/agent-names.ts"
import { hexColour } from "../../domain/colour.ts"
import type { TeamSetting } from "../../teams/roster.ts"
import { CHAT, USER } from "./telegram-settings.ts"

interface Starting {
  /** Permission modes: the default first, the one that never asks last. */
  modes: readonly string[]
  /** Whether it accepts instruction and settings files by path. */
  takesFiles: boolean
}

/** How each agent's sessions are started. */
const STARTING: Record<string, Starting> = {
  "claude-code": {
    modes: ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"],
    takesFiles: true,
  },
  codex: { modes: ["workspace-write", "read-only", "danger-full-access"], takesFiles: false },
}
const NOT_STARTED: Starting = { modes: ["default"], takesFiles: false }
export const WHEN_AWAY = ["keep", "resume", "start"] as const

/** Letters, digits, - and _: a name is also part of a lane's, and of a session's of tmux. */
export const TEAM_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$/u

const path = z.string().refine(isAbsolute, "must be an absolute path")
const name = z.string().regex(TEAM_NAME, "a team name consists of at most 64 letters, digits, - and _")

const NOT_A_CHAT = "must be the number of a Telegram chat, such as -1001234567890"
const number = z.union([z.string(), z.int()]).transform(String)
const chatId = number.refine((id) => CHAT.test(id), NOT_A_CHAT)
/** Nexus's maps use an empty string for none. */
const nexusChatId = number.refine((id) => id === "" || CHAT.test(id), NOT_A_CHAT)

const Keys = z.strictObject({
  project: path.optional().describe("The folder its agent works in"),
  path: path.optional().describe("Iris's name for project"),
  workdir: path.optional().describe("Nexus's name for project"),
  description: z.string().max(1_000).default("").describe("What the team does"),
  platform: z
    .string()
    .refine(
      (name) => agentNamed(platforms, name) !== undefined,
      `must be one of ${platforms.map(({ id }) => id).join(", ")}`,
    )
    .overwrite((name) => agentNamed(platforms, name) ?? name)
    .default("claude-code")
    .describe("Its agent"),
  program: path.optional().describe("Path to the agent's program, if not on the daemon's PATH"),
  skipPermissions: z.boolean().default(false).describe("Let the agent act without asking for permission"),
  permissionMode: z.string().min(1).optional().describe("Permission mode of the sessions Throughline starts"),
  whenAway: z
    .enum(WHEN_AWAY)
    .default("keep")
    .describe("For messages while no session runs: keep them, resume the last session, or start a new one"),
  color: z
    .string()
    .refine(
      (text) => hexColour(text) !== undefined,
      "must be a hex colour such as #E91E63, or a CSS colour name such as crimson",
    )
    .overwrite((text) => hexColour(text) ?? text)
    .optional()
    .describe("Colour beside its name, in the dashboard and in a terminal"),
  chat: z
    .strictObject({
      id: chatId,
      thread: z.int().min(1).nullable().default(null),
      users: z.array(z.string().regex(USER, "must be the number of a Telegram user")).default([]),
    })
    .optional()
    .describe("Its own Telegram group: id, a thread shared by its sessions, and users who may act only there"),
  chat_id: nexusChatId.optional().describe("Nexus's name for chat.id"),
  claude_md: path.optional().describe("File with instructions for the sessions Throughline starts"),
  settings: path.optional().describe("File with agent settings for the sessions Throughline starts"),
  session_file: path.optional().describe("For agents without hooks: the file in which the agent reports its session"),
  taskStateFile: z.boolean().default(false).describe("Also write .claude-session-state.json in the project"),
  idleTimeout: z.int().min(1_000).optional().describe("Idle milliseconds after which a session may be ended"),
})
export const TEAM_KEYS = Object.keys(Keys.shape)

/** One team, with its keys under their own or imported names. */
export const TeamSettingSchema = Keys.transform((keys, context): TeamSetting => {
  const { path: irisPath, workdir, chat, chat_id, permissionMode, ...rest } = keys
  const project = keys.project ?? irisPath ?? workdir
  const wrong = (key: string, message: string) => {
    context.addIssue({ code: "custom", path: [key], message })
    return z.NEVER
  }
  if (project === undefined) return wrong("project", "is missing: the absolute path of the folder it works in")
  const { modes, takesFiles } = STARTING[rest.platform] ?? NOT_STARTED
  const mode = permissionMode ?? modes.at(rest.skipPermissions ? -1 : 0)!
  if (!modes.includes(mode)) return wrong("permissionMode", `must be one of ${modes.join(", ")} for ${rest.platform}`)
  if (rest.skipPermissions && mode !== modes.at(-1))
    return wrong("permissionMode", "contradicts skipPermissions; remove one of them")
  for (const key of ["claude_md", "settings"] as const)
    if (rest[key] !== undefined && !takesFiles)
      return wrong(key, `is not supported for ${rest.platform}, which reads only the project's own files`)
  const id = chat?.id ?? (chat_id === "" ? undefined : chat_id)
  return {
    ...rest,
    project,
    permissionMode: mode,
    chat: id === undefined ? undefined : { id, thread: chat?.thread ?? null, users: chat?.users ?? [] },
  }
})

export const TeamSettings = z.record(name, TeamSettingSchema)
