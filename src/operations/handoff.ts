import * as z from "zod"
import { commandLine } from "../domain/platform.ts"
import { AGENTS_WRITE, operation } from "./operation.ts"
import { sessionOf } from "./session-of.ts"

export const handoff = operation({
  name: "handoff",
  summary: "Continue a session in another agent",
  ...AGENTS_WRITE,
  positional: ["sessionId"],
  input: z.strictObject({
    sessionId: z.string().min(1).describe("Session id, or a unique prefix of it"),
    to: z.string().min(1).describe("The agent to continue in, such as claude-code or codex"),
    maxTokens: z
      .int()
      .min(1000)
      .max(1_000_000)
      .optional()
      .describe("Maximum length of the copied conversation; older parts become a brief"),
  }),
  output: z.object({
    platform: z.string(),
    nativeId: z.string().optional(),
    path: z.string().optional(),
    promptFile: z.string().optional(),
    command: z.string().optional(),
    tokens: z.number(),
  }),
  text: ({ path, promptFile, command, tokens }) =>
    [
      `Created ${path ?? promptFile} (${tokens} tokens)`,
      command === undefined ? "Give it to the agent as its first prompt." : `Continue with: ${command}`,
    ].join("\n"),
  async run({ sessions, capture, handoff }, { sessionId, to, maxTokens }, caller) {
    const session = await sessionOf({ sessions, capture }, sessionId, caller)
    const { command, ...made } = await handoff.create({ session, to, maxTokens })
    return command ? { ...made, command: commandLine(command) } : made
  },
})
