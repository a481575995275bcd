import * as z from "zod"
import { operation } from "./operation.ts"
import { PermissionView, permissionText, viewPermission } from "./permissions.ts"
import { MessageView, viewMessage } from "./queue.ts"
import { clip, counted, table } from "./text.ts"

const HeldView = z.object({ target: z.string(), pending: z.number(), waitsFor: z.string() })

export const waiting = operation({
  name: "waiting",
  summary:
    "Show what goes on only when a person says something: questions of agents, messages to decide about, held queues",
  effect: "read",
  on: ["cli", "http"],
  input: z.strictObject({}),
  output: z.object({
    permissions: z.array(PermissionView),
    messages: z.array(MessageView),
    /** Whom messages wait for, and what they wait for. */
    held: z.array(HeldView),
  }),
  text: ({ permissions, messages, held }) =>
    permissions.length + messages.length + held.length === 0
      ? "Nothing waits for you."
      : [
          ...permissions.map(permissionText),
          ...(messages.length === 0
            ? []
            : [
                table(
                  ["ID", "FOR", "STATE", "MESSAGE"],
                  messages.map(({ id, target, state, message }) => [id, target, state, clip(message, 60)]),
                ),
              ]),
          ...held.map(({ target, pending, waitsFor }) => `${target}: ${counted(pending, "message")}, ${waitsFor}`),
        ].join("\n\n"),
  async run({ permits, reach }) {
    const [permissions, messages, targets] = await Promise.all([
      permits.waiting(),
      reach.stuck.list(),
      reach.messages.status(),
    ])
    return {
      permissions: permissions.map(viewPermission),
      messages: messages.map(viewMessage),
      held: targets.flatMap(({ target, pending, waitsFor }) => (waitsFor ? [{ target, pending, waitsFor }] : [])),
    }
  },
})
