import * as z from "zod"
import { AtTerminalView, atTerminals, atTerminalText } from "./at-terminal.ts"
import { ANYONE_READS, operation } from "./operation.ts"
import { PermissionView, permissionText, viewPermission } from "./permissions.ts"
import { MessageView, viewMessage } from "./queue.ts"
import { clip, counted, table } from "./text.ts"

const HeldView = z.object({ target: z.string(), pending: z.number(), waitsFor: z.string() })

export const waiting = operation({
  name: "waiting",
  summary: "List everything that needs a person: questions, undelivered messages, blocked queues",
  ...ANYONE_READS,
  input: z.strictObject({}),
  output: z.object({
    permissions: z.array(PermissionView),
    messages: z.array(MessageView),
    /** Targets with blocked messages, and the reason. */
    held: z.array(HeldView),
    /** Sessions with a question that only their own terminal can answer. */
    atTerminal: z.array(AtTerminalView),
  }),
  text: ({ permissions, messages, held, atTerminal }) =>
    permissions.length + messages.length + held.length + atTerminal.length === 0
      ? "Nothing needs you right now."
      : [
          ...permissions.map(permissionText),
          ...atTerminal.map(atTerminalText),
          ...(messages.length === 0
            ? []
            : [
                table(
                  ["ID", "TARGET", "STATE", "MESSAGE"],
                  messages.map(({ id, target, state, message }) => [id, target, state, clip(message, 60)]),
                ),
              ]),
          ...held.map(
            ({ target, pending, waitsFor }) => `${target}: ${counted(pending, "message")} queued (${waitsFor})`,
          ),
        ].join("\n\n"),
  async run({ permits, reach, live, sessions }) {
    const [permissions, messages, targets] = await Promise.all([
      permits.waiting(),
      reach.stuck.list(),
      reach.messages.status(),
    ])
    return {
      permissions: permissions.map(viewPermission),
      atTerminal: await atTerminals({ live, sessions }, permissions),
      messages: messages.map(viewMessage),
      held: targets.flatMap(({ target, pending, waitsFor }) => (waitsFor ? [{ target, pending, waitsFor }] : [])),
    }
  },
})
