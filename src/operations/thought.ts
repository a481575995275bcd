import * as z from "zod"
import { present } from "../lib/defined.ts"
import { noRoot } from "./init-text.ts"
import { operation, TOOL_WRITES } from "./operation.ts"

const MAX_THOUGHT_CHARS = 1_000_000

export const thought = operation({
  name: "thought",
  summary:
    "Record one reasoning step that survives restarts. Number optional; a taken one is reassigned, never overwritten.",
  ...TOOL_WRITES,
  tool: { set: "recovery", alwaysLoad: true, isBrief: true },
  input: z.strictObject({
    thought: z.string().min(1).max(MAX_THOUGHT_CHARS),
    nextThoughtNeeded: z.boolean(),
    thoughtNumber: z.int().min(1).max(1_000_000).optional(),
    totalThoughts: z.int().min(1).max(1_000_000).optional(),
    isRevision: z.boolean().optional(),
    revisesThought: z.int().min(1).optional(),
    branchFromThought: z
      .int()
      .min(1)
      .optional()
      .describe("Main-line thought the branch starts from; required with branchId"),
    branchId: z.string().min(1).max(200).optional(),
    sessionId: z.string().min(1).optional().describe("Default: the session last used here"),
  }),
  output: z.object({
    sessionId: z.string(),
    thoughtNumber: z.number(),
    branchId: z.string().optional(),
    renumberedFrom: z.number().optional(),
    thoughtCount: z.number(),
    message: z.string().optional(),
  }),
  text: (out) => {
    const place =
      out.branchId === undefined
        ? `Thought ${out.thoughtNumber}`
        : `Thought ${out.thoughtNumber} of branch ${out.branchId}`
    const renumbered = out.renumberedFrom === undefined ? "" : ` (${out.renumberedFrom} was taken)`
    return [`${place} stored${renumbered} in session ${out.sessionId}; ${out.thoughtCount} in total.`, out.message]
      .filter(Boolean)
      .join(" ")
  },
  async run({ sessions }, input, caller) {
    const { thought, session, startedSession, thoughtCount } = await sessions.thinking.record(caller, input)
    return {
      sessionId: session.id,
      thoughtNumber: thought.number,
      ...present({ branchId: thought.branchId, renumberedFrom: thought.renumberedFrom }),
      thoughtCount,
      ...(startedSession ? { message: startedText(session, noRoot(sessions.projects, caller)) } : {}),
    }
  },
})

function startedText({ title, rootUri }: { title: string; rootUri: string | null }, advice: string): string {
  const next = rootUri === null ? advice : "init load_context restores an earlier one."
  return `Started session "${title}". ${next}`
}
