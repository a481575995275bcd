import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { operation } from "./operation.ts"
import { sessionIdOf } from "./session-of.ts"
import { counted } from "./text.ts"

const day = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

const Input = z.strictObject({
  sessionId: z.string().min(1).optional().describe("This session"),
  root: z.string().min(1).optional().describe("This project (folder or file:// URI)"),
  since: day.optional().describe("Only from this date or time"),
  until: day.optional().describe("Only before this date or time"),
  containing: z
    .string()
    .min(3)
    .optional()
    .describe("Everything that contains exactly this text: messages, thoughts, titles, tasks, logs"),
  dryRun: z.boolean().default(false).describe("Only report what would be deleted"),
})

export const forget = operation({
  name: "forget",
  summary: "Delete permanently: a session, a project, a time, or everything that contains a text",
  effect: "destroy",
  access: "owner",
  // The audit must not contain the text to forget.
  audited: ({ containing, dryRun, ...scope }) =>
    dryRun ? undefined : { ...scope, ...(containing !== undefined && { containingChars: containing.length }) },
  on: ["cli", "http"],
  input: Input,
  output: z.object({
    forgotten: z.boolean(),
    sessions: z.number(),
    turns: z.number(),
    thoughts: z.number(),
    mentions: z.number().describe("Titles, branches, messages, tasks, topics and the like that contain the text"),
    left: z.array(z.string()).describe("Throughline's own files that still contain the text; delete them yourself"),
  }),
  question: (planned, input) => `Delete ${amount(planned)}${scopeOf(input)} permanently?`,
  text: ({ forgotten, left, ...plan }, input) =>
    [
      `${forgotten ? "Deleted" : "Would delete"} ${amount(plan)}${scopeOf(input)}${forgotten ? " permanently" : ""}.`,
      ...(forgotten
        ? ["The agents' own files are untouched; what is read from them again is not stored.", ...left.map(leftLine)]
        : []),
    ].join("\n"),
  async run(
    { sessions, capture, recall, handoff },
    { sessionId: given, root, since, until, containing, dryRun },
    caller,
  ) {
    if ([given, root, since, until, containing].every((value) => value === undefined)) {
      throw new Failure("bad_input", "say what to forget: sessionId, root, since, until or containing", {
        parameter: "sessionId",
      })
    }
    const project = root === undefined ? undefined : await sessions.projects.find(root)
    if (project && !project.project) return { forgotten: !dryRun, ...NOTHING }
    const scope = {
      sessionId: given === undefined ? undefined : await sessionIdOf({ sessions, capture }, given, caller),
      containing,
      projectId: project?.project?.id,
      sinceMs: since === undefined ? undefined : Date.parse(since),
      untilMs: until === undefined ? undefined : Date.parse(until),
    }
    if (dryRun) return { forgotten: false, ...(await sessions.forget.plan(scope)), left: [] }
    const plan = await sessions.forget.forget(scope)
    capture.forgotten()
    handoff.forgotten()
    await recall.forgotten()
    return { forgotten: true, ...plan }
  },
})

const NOTHING = { sessions: 0, turns: 0, thoughts: 0, mentions: 0, left: [] }

function amount({ sessions, turns, thoughts, mentions }: Omit<typeof NOTHING, "left">): string {
  const parts = [
    counted(sessions, "session"),
    counted(turns, "message"),
    counted(thoughts, "thought"),
    ...(mentions > 0 ? [counted(mentions, "other mention")] : []),
  ]
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}

function scopeOf({ sessionId, root, since, until, containing }: z.input<typeof Input>): string {
  const parts = [
    sessionId && ` of session ${sessionId}`,
    root && ` of ${root}`,
    since && ` since ${since}`,
    until && ` until ${until}`,
    containing && ` containing ${JSON.stringify(containing)}`,
  ]
  return parts.filter(Boolean).join("")
}

const leftLine = (path: string) => `This file still contains the text; delete it yourself: ${path}`
