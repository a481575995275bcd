import * as z from "zod"
import type { LiveAgent } from "../domain/live.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import { ANYONE_READS, operation } from "./operation.ts"
import { clip, table } from "./text.ts"
import { ConversationView, viewConversation } from "./views.ts"

const WORDS_CHARS = 280

const LiveView = z.object({
  session: ConversationView,
  status: z.enum(["idle", "busy", "waiting", "gone"]),
  waitingFor: z.string().optional(),
  since: z.string().optional(),
  pid: z.number(),
  /** Its current tmux pane. */
  pane: z.string().optional(),
  /** Reachable through the agent's own protocol. */
  direct: z.boolean().optional(),
  /** A background hook lets messages wake it. */
  wakes: z.boolean().optional(),
  /** Its topic in the messenger. */
  topic: z.string().optional(),
  unattended: z.boolean().optional(),
  teams: z.array(z.string()),
  /** The last message and its author. */
  last: z.object({ role: z.enum(["user", "agent"]), text: z.string(), at: z.string() }).optional(),
})

export const sessionsLive = operation({
  name: "sessions.live",
  summary: "List running sessions, what they are doing, and how they can be reached",
  ...ANYONE_READS,
  input: z.strictObject({}),
  output: z.object({ sessions: z.array(LiveView) }),
  text: ({ sessions }) =>
    sessions.length === 0
      ? "No running agents detected. Run `throughline setup` so agents report when they start."
      : table(
          ["AGENT", "STATE", "SESSION", "TITLE", "REACHABLE"],
          sessions.map(({ session, status, waitingFor, ...ways }) => [
            session.platform,
            waitingFor === undefined ? status : `${status} (${waitingFor})`,
            session.id.slice(0, 8),
            clip(session.title, 50),
            reachedText(ways),
          ]),
        ),
  async run({ live, sessions, capture, reach, telegram }) {
    const agents = await live.all()
    const views = await Promise.all(
      agents.map(async (agent) => {
        const session = await sessions.recovery.get(agent.session.id)
        const last = await sessions.lastWords(agent.session.id)
        const topic = await telegram.topicOf(agent.session.id)
        return {
          session: viewConversation(session, capture.resumeCommand(session)),
          ...viewLive(agent),
          ...(await reach.routesTo(agent)),
          ...(topic !== undefined && { topic }),
          ...(last && {
            last: {
              role: last.kind === "prompt" ? ("user" as const) : ("agent" as const),
              text: clip(last.text, WORDS_CHARS),
              at: isoTime(last.atMs),
            },
          }),
        }
      }),
    )
    return {
      sessions: views.toSorted(
        (a, b) => rank(a.status) - rank(b.status) || (a.session.updatedAt < b.session.updatedAt ? 1 : -1),
      ),
    }
  },
})

function viewLive({ status, waitingFor, statusAtMs, pid, isUnattended, teams }: LiveAgent) {
  return {
    ...{ status, pid, teams: [...teams] },
    ...present({ waitingFor, since: isoTime(statusAtMs), unattended: isUnattended || undefined }),
  }
}

type Ways = Pick<z.output<typeof LiveView>, "pane" | "direct" | "wakes" | "topic">

const reachedText = ({ pane, direct, wakes, topic }: Ways) =>
  [pane && `tmux ${pane}`, direct && "direct", wakes && "hook", topic && `topic ${topic}`].filter(Boolean).join(", ") ||
  "-"

/** Sessions that wait for a person come first. */
const rank = (status: LiveAgent["status"]) => ["waiting", "busy", "idle", "gone"].indexOf(status)
