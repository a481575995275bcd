import { pathToFileURL } from "node:url"
import type { DeliveryState } from "../../domain/delivery.ts"
import { AGENT_CHANNEL, lanesOf, messageOf } from "../../domain/message.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster, Team } from "../../domain/team.ts"

export interface TeamStatus {
  team: string
  /** Queued. */
  pending: number
  /** An agent has them, and is not done. */
  inProgress: number
  /** What the agent says it is doing, or the message that it is at. */
  currentTask: string | null
  /** The agent's own name for the session at the team's post. */
  sessionId: string | null
  lastSeenMs: number | null
  /** Why the next one waits. */
  waitsFor: string | null
}

const WITH_AGENT: readonly DeliveryState[] = ["delivered", "seen", "running"]
const MAX_TASK_CHARS = 200

/** How it stands with every team. */
export function makeStatus({ store, roster }: { store: Store; roster: Roster }): () => Promise<TeamStatus[]> {
  return async () => {
    const counts = await store.deliveries.counts(AGENT_CHANNEL)
    return Promise.all(
      roster.list().map(async (team): Promise<TeamStatus> => {
        const lanes = lanesOf(team.name)
        const of = (states: readonly DeliveryState[]) =>
          counts
            .filter(({ lane, state }) => lanes.includes(lane) && states.includes(state))
            .reduce((sum, { count }) => sum + count, 0)
        const pending = of(["queued"])
        return {
          team: team.name,
          pending,
          inProgress: of(WITH_AGENT),
          currentTask: await currentTask(store, team),
          waitsFor: pending === 0 ? null : await whyWaiting(store, lanes),
          ...(await seen(store, team.name)),
        }
      }),
    )
  }
}

async function currentTask(store: Store, team: Team): Promise<string | null> {
  const project = await store.projects.byRoot(pathToFileURL(team.projectDir).href)
  const said = project && (await store.taskStates.get(project.id))?.currentTask
  if (said) return said
  const [running] = await store.deliveries.ofLanes(lanesOf(team.name), { states: WITH_AGENT, last: 1 })
  if (!running) return null
  const line = messageOf(running).text.replaceAll(/\s+/g, " ").trim()
  return line.length <= MAX_TASK_CHARS ? line : `${line.slice(0, MAX_TASK_CHARS - 1)}…`
}

async function whyWaiting(store: Store, lanes: string[]): Promise<string | null> {
  const [head] = await store.deliveries.ofLanes(lanes, { states: ["queued"], first: 1 })
  return head?.outcome ?? null
}

async function seen(store: Store, team: string): Promise<Pick<TeamStatus, "sessionId" | "lastSeenMs">> {
  const post = await store.posts.byTeam(team)
  if (!post?.sessionId) return { sessionId: null, lastSeenMs: null }
  const [route] = await store.routes.ofSession(post.sessionId)
  return { sessionId: post.nativeId, lastSeenMs: route?.seenAtMs ?? post.goneAtMs ?? post.sinceMs }
}
