import * as z from "zod"
import { taskFileText } from "../domain/task-file.ts"
import { present } from "../lib/defined.ts"
import { DAY_MS } from "../lib/time.ts"
import { ANYONE_READS, ANYONE_WRITES, operation } from "./operation.ts"
import { clip, mark, minute, table } from "./text.ts"

const UpdateView = z.object({
  message_id: z.string().nullable(),
  type: z.string(),
  content: z.string(),
  created_at: z.string(),
  session_id: z.string().optional(),
  state: z.string().optional(),
  rung: z.string().optional(),
  reason: z.string().optional(),
  untrusted: z.literal(true).optional(),
})

const progress = {
  last_completed_step: z.union([z.string(), z.number()]).nullable(),
  pending_messages: z.array(z.string()),
}
const RestartView = z.object({
  old_session_id: z.string().nullable(),
  new_session_id: z.string().nullable(),
  cause: z.string(),
  working_on: z.string().nullable(),
  ...progress,
  task_file: z
    .object({
      current_task: z.string().nullable(),
      current_task_id: z.string().nullable(),
      ...progress,
      updated_at: z.string().nullable(),
      untrusted: z.literal(true),
    })
    .optional(),
  at: z.string(),
})

export const pullUpdates = operation({
  name: "pull_updates",
  summary: "A team's updates: replies, message states, announcements, restarts; its own agent also gets its messages",
  ...ANYONE_WRITES,
  tool: { set: "queue" },
  command: "updates",
  positional: ["target"],
  input: z.strictObject({
    target: z.string().min(1).describe("The team's name"),
    since: z
      .union([z.string().min(1), z.number()])
      .optional()
      .describe("next_since of an earlier answer, or a time (ISO 8601 or Unix)"),
    limit: z.int().min(1).max(200).default(50).describe("Maximum number of results"),
  }),
  output: z.object({
    updates: z.array(UpdateView),
    session_restart: RestartView.nullable(),
    next_since: z.string(),
    has_more: z.boolean(),
  }),
  text: ({ updates, session_restart, next_since, has_more }) =>
    [
      ...(updates.length === 0 ? ["Nothing new."] : updates.map(updateLine)),
      ...(session_restart ? [restartLine(session_restart)] : []),
      ...(session_restart?.task_file ? [taskFileText(session_restart.task_file)] : []),
      `${has_more ? "More available" : "Next"}: since ${next_since}`,
    ].join("\n"),
  run: ({ updates }, { target, since, limit }, caller) => updates.pull({ target, since, limit }, caller),
})

export const teamsRestarts = operation({
  name: "teams.restarts",
  summary: "List restarts of team sessions, newest first, and what they were working on",
  ...ANYONE_READS,
  input: z.strictObject({
    since: z.iso.datetime({ offset: true }).optional().describe("From this time (default: a day ago)"),
    limit: z.int().min(1).max(200).default(20).describe("Maximum number of results"),
  }),
  output: z.object({
    restarts: z.array(
      z.object({
        team: z.string(),
        at: z.string(),
        cause: z.string(),
        workingOn: z.string().optional(),
        /** Pending messages. */
        pending: z.number(),
        /** The new session, or the old one if there is none. */
        sessionId: z.string().optional(),
      }),
    ),
  }),
  text: ({ restarts }) =>
    restarts.length === 0
      ? "No restarts."
      : table(
          ["AT", "TEAM", "CAUSE", "SESSION", "QUEUED", "WORKING ON"],
          restarts.map(({ team, at, cause, workingOn, pending, sessionId }) => [
            minute(at),
            team,
            cause,
            sessionId?.slice(0, 8) ?? "-",
            String(pending),
            clip(workingOn ?? "-", 60),
          ]),
        ),
  async run({ updates }, { since, limit }) {
    const sinceMs = since === undefined ? Date.now() - DAY_MS : Date.parse(since)
    const restarts = await updates.restarts({ sinceMs, limit })
    return {
      restarts: restarts.map(({ team, at, cause, working_on, pending_messages, sessionId }) => ({
        ...{ team, at, cause, pending: pending_messages.length },
        ...present({ workingOn: working_on, sessionId }),
      })),
    }
  },
})

/** One update on one line. */
export function updateLine({ created_at, type, message_id, content, untrusted }: z.output<typeof UpdateView>): string {
  const about = message_id === null || type === "message_state" ? "" : ` ${message_id}`
  return `${created_at.slice(0, 19).replace("T", " ")}  ${type}${about}  ${mark({ untrusted })}${content}`
}

function restartLine(restart: z.output<typeof RestartView>): string {
  const { working_on, last_completed_step: step, pending_messages } = restart
  const done = step === null ? "" : `; last completed step: ${step}`
  const waiting = pending_messages.length === 0 ? "no pending messages" : `pending: ${pending_messages.join(", ")}`
  return `The restarted session was working on: ${working_on ?? "unknown"}${done}; ${waiting}.`
}
