import * as z from "zod"
import type { LiveAgent } from "../domain/live.ts"
import { shellWord } from "../domain/platform.ts"
import type { Services } from "./services.ts"
import { clip } from "./text.ts"

/** A session that can only be answered in its own terminal. */
export const AtTerminalView = z.object({
  sessionId: z.string(),
  platform: z.string(),
  title: z.string(),
  waitsFor: z.string(),
  /** The command that attaches to its terminal, if known. */
  attach: z.string().optional(),
})
type AtTerminalView = z.output<typeof AtTerminalView>

/** Waiting sessions without a request that can be answered here. */
export async function atTerminals(
  { live, sessions }: Pick<Services, "live" | "sessions">,
  permissions: readonly { sessionId: string | null }[],
): Promise<AtTerminalView[]> {
  const answered = new Set(permissions.map(({ sessionId }) => sessionId))
  const waiting = (await live.all()).filter(({ status, session }) => status === "waiting" && !answered.has(session.id))
  return Promise.all(
    waiting.map(async ({ session, waitingFor, route }) => ({
      sessionId: session.id,
      platform: session.platform,
      title: (await sessions.recovery.get(session.id)).title,
      waitsFor: waitingFor ?? "an answer",
      ...(route?.pane && { attach: attachCommand(route.pane) }),
    })),
  )
}

const attachCommand = ({ socket, pane }: NonNullable<NonNullable<LiveAgent["route"]>["pane"]>) =>
  `tmux -S ${shellWord(socket)} attach -t ${shellWord(pane)}`

export const atTerminalText = ({ sessionId, platform, title, waitsFor, attach }: AtTerminalView) =>
  [
    `${platform} ${sessionId.slice(0, 8)} "${clip(title, 60)}" needs an answer (${waitsFor}) in its terminal`,
    ...(attach === undefined ? [] : [`  ${attach}`]),
  ].join("\n")
