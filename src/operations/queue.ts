import * as z from "zod"
import { isOwner } from "../domain/caller.ts"
import type { Delivery } from "../domain/delivery.ts"
import { DELIVERY_STATES } from "../domain/delivery.ts"
import { Failure } from "../domain/failure.ts"
import { addressOf, DELIVERY_ROUTES, FETCHES, messageOf, PRIORITIES, targetOf } from "../domain/message.ts"
import { shownReason } from "../domain/reason.ts"
import { isoTime } from "../lib/time.ts"
import { AGENTS_WRITE, ANYONE_READS, ANYONE_WRITES, OWNER_WRITES, operation } from "./operation.ts"
import { ago, clip, minute, table } from "./text.ts"

export const sendMessage = operation({
  name: "send_message",
  summary: "Queue a message for a team or session; it is stored until delivered",
  ...ANYONE_WRITES,
  tool: { set: "queue", isBrief: true },
  command: "send",
  positional: ["target", "message"],
  takesWords: true,
  input: z.strictObject({
    target: z.string().min(1).describe("A team, or a session's id"),
    message: z.string().describe("The message"),
    priority: z.enum(PRIORITIES).optional().describe("urgent: now, even during a turn; stop: end the turn first"),
    idempotency_key: z.string().min(1).max(200).optional().describe("Reject a second message with the same key"),
  }),
  output: z.object({
    queued: z.boolean(),
    id: z.string().optional(),
    target: z.string().optional(),
    reason: z.string().optional(),
    /** Why the requested priority cannot be used. */
    note: z.string().optional(),
  }),
  isRefusal: ({ queued }) => !queued,
  text: ({ queued, id, target, reason, note }) =>
    queued
      ? `Queued for ${target}: ${id}${note === undefined ? "" : `\n${note}`}`
      : `Not queued: ${reason}${id === undefined ? "" : ` of ${id}`}`,
  run: async ({ reach }, { target, message, priority, idempotency_key }, caller) =>
    reach.messages.send({
      target,
      text: message,
      priority,
      idempotencyKey: idempotency_key ?? caller.idempotencyKey,
      sender: await reach.senderOf(caller),
    }),
})

const LaneView = z.object({
  target: z.string(),
  pending: z.number(),
  in_progress: z.number(),
  current_task: z.string().optional(),
  session_id: z.string().optional(),
  /** When the agent wrote its session file; nothing else is known about the session. */
  session_file_at: z.string().optional(),
  /** It gets messages only through pull_updates. */
  fetches: z.literal(true).optional(),
  last_seen: z.string().optional(),
  waits_for: z.string().optional(),
  /** Senders of the pending messages. */
  from: z.array(z.string()).optional(),
})
type LaneView = z.output<typeof LaneView>

export const queueStatus = operation({
  name: "queue_status",
  summary: "Pending messages of each team and session, and what its agent does",
  effect: "read",
  access: "anyone",
  on: ["mcp", "cli", "http"],
  tool: { set: "queue", isBrief: true },
  command: "queue",
  input: z.strictObject({}),
  output: z.object({ targets: z.array(LaneView) }),
  text: ({ targets }) =>
    targets.length === 0
      ? "No teams are configured, and no session has messages: `throughline teams add <name> <folder>`."
      : table(
          ["TARGET", "QUEUED", "FROM", "RUNNING", "LAST SEEN", "SESSION", "TASK"],
          targets.map((one) => [
            one.target,
            `${one.pending}${whyText(one)}`,
            clip(one.from?.join(", ") ?? "-", 40),
            String(one.in_progress),
            one.last_seen === undefined ? "-" : minute(one.last_seen),
            sessionText(one),
            clip(one.current_task ?? "-", 60),
          ]),
        ),
  async run({ reach }) {
    const targets = await reach.messages.status()
    return {
      targets: targets.map((one) => ({
        target: one.target,
        pending: one.pending,
        in_progress: one.inProgress,
        current_task: one.currentTask ?? undefined,
        session_id: one.sessionId ?? undefined,
        session_file_at: isoTime(one.sessionFileAtMs),
        fetches: one.isFetched || undefined,
        last_seen: isoTime(one.lastSeenMs),
        waits_for: one.waitsFor ?? undefined,
        from: one.from.length === 0 ? undefined : one.from,
      })),
    }
  },
})

function whyText({ fetches, waits_for }: LaneView): string {
  const why = fetches ? FETCHES : waits_for
  return why === undefined ? "" : ` (${why})`
}

function sessionText({ session_id, session_file_at }: LaneView): string {
  const id = session_id?.slice(0, 8) ?? "-"
  return session_file_at === undefined ? id : `${id} (reported ${ago(Date.now() - Date.parse(session_file_at))})`
}

export const MessageView = z.object({
  id: z.string(),
  target: z.string(),
  state: z.enum(DELIVERY_STATES),
  priority: z.enum(PRIORITIES),
  from: z.string(),
  /** The sending program's own name. */
  client: z.object({ name: z.string(), version: z.string() }).optional(),
  message: z.string(),
  way: z.enum(DELIVERY_ROUTES).optional(),
  reason: z.string().optional(),
  sent_at: z.string(),
  changed_at: z.string().optional(),
})

const which = { id: z.string().min(1).describe("The message's id") }

export const queueShow = operation({
  name: "queue.show",
  summary: "Show a message: its state, since when, and its route",
  ...ANYONE_READS,
  positional: ["id"],
  input: z.strictObject(which),
  output: MessageView,
  text: ({ id, target, state, reason, way, from, message, sent_at, changed_at }) =>
    [
      `${id} to ${target}, from ${from}: ${state}${changed_at === undefined ? "" : ` since ${changed_at}`}${reason === undefined ? "" : ` (${reason})`}`,
      `Sent ${sent_at}${way === undefined ? "" : `, via ${way}`}`,
      "",
      message,
    ].join("\n"),
  async run({ reach }, { id }) {
    const found = await reach.messages.byId(id)
    if (!found) throw new Failure("message_not_found", `there is no message ${id}`, { id })
    const isWaiting = found.state === "queued" && found.outcome === null
    return viewMessage(isWaiting ? { ...found, outcome: await reach.messages.waitsFor(found) } : found)
  },
})

export const queueCancel = operation({
  name: "queue.cancel",
  summary: "Cancel a message that has not been delivered",
  ...AGENTS_WRITE,
  positional: ["id"],
  input: z.strictObject(which),
  output: z.object({ id: z.string(), cancelled: z.boolean(), reason: z.string().optional() }),
  isRefusal: ({ cancelled }) => !cancelled,
  text: ({ id, cancelled, reason }) => (cancelled ? `Cancelled ${id}.` : `${id} was not cancelled: ${reason}.`),
  async run({ reach }, { id }, caller) {
    const message = await reach.messages.byId(id)
    if (message && messageOf(message).sender.kind === "owner" && !isOwner(caller))
      throw new Failure("person_needed", `${id} is the owner's own message`, { id })
    return { id, ...(await reach.messages.cancel(id)) }
  },
})

export const queueStuck = operation({
  name: "queue.stuck",
  summary: "List messages that need a decision: failed, expired, or delivery unconfirmed",
  ...ANYONE_READS,
  input: z.strictObject({}),
  output: z.object({ messages: z.array(MessageView) }),
  text: ({ messages }) =>
    messages.length === 0
      ? "No messages need a decision."
      : table(
          ["ID", "TARGET", "FROM", "STATE", "REASON", "MESSAGE"],
          messages.map((one) => [
            ...[one.id, one.target, clip(one.from, 40), one.state],
            ...[clip(one.reason ?? "-", 50), clip(one.message, 50)],
          ]),
        ),
  run: async ({ reach }) => ({ messages: (await reach.stuck.list()).map(viewMessage) }),
})

export const queueSettle = operation({
  name: "queue.settle",
  summary: "Resend or dismiss a message that failed, expired, or is unconfirmed",
  ...OWNER_WRITES,
  positional: ["id", "how"],
  input: z.strictObject({
    ...which,
    how: z.enum(["again", "leave"]).describe("again: resend the same message; leave: dismiss it"),
  }),
  output: z.object({ settled: z.boolean(), newId: z.string().optional(), reason: z.string().optional() }),
  isRefusal: ({ settled }) => !settled,
  text: ({ settled, newId, reason }, { id }) =>
    settled
      ? newId === undefined
        ? `Dismissed ${id}.`
        : `Resent ${id} as ${newId}.`
      : `Nothing was changed: ${reason}.`,
  run: ({ reach }, { id, how }) => reach.stuck.settle(id, { again: how === "again" }),
})

export function viewMessage(delivery: Delivery): z.output<typeof MessageView> {
  const { text, priority, sender } = messageOf(delivery)
  return {
    id: delivery.key,
    target: targetOf(addressOf(delivery)),
    state: delivery.state,
    priority,
    from: sender.name,
    client: sender.client,
    message: text,
    way: delivery.route ?? undefined,
    reason: shownReason(delivery.outcome) ?? undefined,
    sent_at: isoTime(delivery.createdAtMs),
    changed_at: isoTime(delivery.settledAtMs),
  }
}
