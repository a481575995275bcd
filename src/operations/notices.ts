import * as z from "zod"
import type { Delivery } from "../domain/delivery.ts"
import { DELIVERY_STATES } from "../domain/delivery.ts"
import { noticeOf } from "../domain/pair.ts"
import { DAY_MS, isoTime } from "../lib/time.ts"
import { ANYONE_READS, OWNER_WRITES, operation } from "./operation.ts"
import { clip, minute, table } from "./text.ts"

const WEEK_MS = 7 * DAY_MS
const MOST_RESTARTS = 20

const NoticeView = z.object({
  id: z.string(),
  team: z.string(),
  from: z.string(),
  state: z.enum(DELIVERY_STATES),
  message: z.string(),
  at: z.string(),
  expiresAt: z.string().optional(),
})

const which = { id: z.string().min(1).describe("The notice's id") }

export const noticesList = operation({
  name: "notices.list",
  summary: "List unread notices to teams, and the restarts of the last week",
  ...ANYONE_READS,
  command: ["notices", "notices list"],
  input: z.strictObject({ team: z.string().min(1).optional().describe("Only of this team") }),
  output: z.object({
    notices: z.array(NoticeView),
    restarts: z.array(
      z.object({ team: z.string(), at: z.string(), cause: z.string(), workingOn: z.string().optional() }),
    ),
  }),
  text: ({ notices, restarts }) =>
    notices.length + restarts.length === 0
      ? "No notices."
      : table(
          ["AT", "TEAM", "ID", "NOTICE"],
          [
            ...restarts.map(({ team, at, cause, workingOn }) => ({
              at,
              row: [team, "-", `session restarted (${cause})${workingOn === undefined ? "" : `: ${workingOn}`}`],
            })),
            ...notices.map(({ team, at, id, from, message }) => ({ at, row: [team, id, `${from}: ${message}`] })),
          ]
            .toSorted((a, b) => (a.at < b.at ? 1 : -1))
            .map(({ at, row: [team = "", id = "", text = ""] }) => [minute(at), team, id, clip(text, 80)]),
        ),
  async run({ teams, updates }, { team }) {
    const isWanted = (name: string) => team === undefined || name === team
    const unread = await teams.notices.unread()
    const restarts = await updates.restarts({ sinceMs: Date.now() - WEEK_MS, limit: MOST_RESTARTS })
    return {
      notices: unread.map(viewNotice).filter((one) => isWanted(one.team)),
      restarts: restarts
        .filter((one) => isWanted(one.team))
        .map(({ team, at, cause, working_on }) => ({ team, at, cause, workingOn: working_on ?? undefined })),
    }
  },
})

export const noticesShow = operation({
  name: "notices.show",
  summary: "Show a notice in full, and whether it was read",
  ...ANYONE_READS,
  positional: ["id"],
  input: z.strictObject(which),
  output: NoticeView,
  text: ({ id, team, from, state, at, message }) =>
    `${id} to ${team}, from ${from}, ${minute(at)}: ${state === "queued" ? "unread" : state}\n\n${message}`,
  run: async ({ teams }, { id }) => viewNotice(await teams.notices.byId(id)),
})

export const noticesDismiss = operation({
  name: "notices.dismiss",
  summary: "Dismiss an unread notice",
  ...OWNER_WRITES,
  positional: ["id"],
  input: z.strictObject(which),
  output: z.object({ id: z.string(), dismissed: z.boolean() }),
  text: ({ id, dismissed }) => (dismissed ? `Dismissed ${id}.` : `${id} was already read or dismissed.`),
  run: async ({ teams }, { id }) => ({ id, dismissed: await teams.notices.dismiss(id) }),
})

function viewNotice(delivery: Delivery): z.output<typeof NoticeView> {
  const { sender, toTeam, text } = noticeOf(delivery)
  return {
    ...{ id: delivery.key, team: toTeam, from: sender, state: delivery.state, message: text },
    at: isoTime(delivery.createdAtMs),
    expiresAt: isoTime(delivery.expiresAtMs),
  }
}
