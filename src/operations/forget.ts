import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { operation } from "./operation.ts"

const day = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

export const forget = operation({
  name: "forget",
  summary: "Delete for good what was kept: a session, a project, a time, or everything that holds a text",
  effect: "destroy",
  on: ["cli", "http"],
  input: z.strictObject({
    sessionId: z.string().min(1).optional().describe("This session"),
    root: z.string().min(1).optional().describe("This project (folder or file:// URI)"),
    since: day.optional().describe("What was said from this day or time on"),
    until: day.optional().describe("What was said before this day or time"),
    containing: z.string().min(3).optional().describe("Every turn and thought that holds this text"),
    dryRun: z.boolean().default(false).describe("Only say what would go"),
  }),
  output: z.object({ forgotten: z.boolean(), sessions: z.number(), turns: z.number(), thoughts: z.number() }),
  text: ({ forgotten, sessions, turns, thoughts }) =>
    `${forgotten ? "Forgotten" : "Would forget"}: ${sessions} sessions, ${turns} turns, ${thoughts} thoughts.${forgotten ? " The agents' own files are untouched; what is read of them again stays forgotten." : ""}`,
  async run({ sessions, capture, recall, handoff }, { sessionId, root, since, until, containing, dryRun }) {
    if ([sessionId, root, since, until, containing].every((value) => value === undefined)) {
      throw new Failure("bad_input", "say what to forget: sessionId, root, since, until or containing", {
        parameter: "sessionId",
      })
    }
    const project = root === undefined ? undefined : await sessions.projects.find(root)
    if (project && !project.project) return { forgotten: !dryRun, sessions: 0, turns: 0, thoughts: 0 }
    const scope = {
      sessionId,
      containing,
      projectId: project?.project?.id,
      sinceMs: since === undefined ? undefined : Date.parse(since),
      untilMs: until === undefined ? undefined : Date.parse(until),
    }
    if (dryRun) return { forgotten: false, ...(await sessions.forget.plan(scope)) }
    const plan = await sessions.forget.forget(scope)
    capture.forgotten()
    handoff.forgotten()
    await recall.forgotten()
    return { forgotten: true, ...plan }
  },
})
