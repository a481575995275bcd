import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { SessionId } from "../../domain/ids.ts"
import type { LiveAgent, LiveSessions } from "../../domain/live.ts"
import { AGENT_CHANNEL, addressOfLane, lanesOf, messageOf } from "../../domain/message.ts"
import { BUTTON, type OutgoingButton } from "../../domain/outgoing.ts"
import { plainWords, shownReason } from "../../domain/reason.ts"
import type { Resuming } from "../../domain/resuming.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import type { Topic } from "../../domain/topic.ts"
import { sessionsByPrefix } from "../../lib/session-prefix.ts"
import type { TeamChats } from "../team-chats.ts"
import type { Scope } from "./who.ts"

type LaneCount = Awaited<ReturnType<Store["deliveries"]["counts"]>>[number]

export interface FactsDeps {
  store: Store
  live: Pick<LiveSessions, "all" | "ofSession">
  roster: Roster
  chats: Pick<TeamChats, "teamOf">
  resuming: Pick<Resuming, "ended">
  host: string
  /** channel:botId */
  bot: string
}

const MOST_LISTED = 20
const MOST_BUTTONS = 8
const HEAD_CHARS = 80
const TITLE_CHARS = 48

export type CommandFacts = ReturnType<typeof makeFacts>

/** The answers to commands. */
export function makeFacts({ store, live, roster, chats, resuming, host, bot }: FactsDeps) {
  const isIn = async (scope: Scope, session: Session | undefined) => {
    if (scope === "all") return true
    const team = session && (await chats.teamOf(store, session))
    return team !== undefined && scope.has(team.name)
  }
  const attended = async (scope: Scope) => {
    const agents = (await live.all()).filter(({ isUnattended }) => !isUnattended)
    const found: LiveAgent[] = []
    for (const agent of agents) if (await isIn(scope, await store.sessions.byId(agent.session.id))) found.push(agent)
    return found
  }
  const waitingLanes = async (scope: Scope) => {
    const found: LaneCount[] = []
    for (const one of await store.deliveries.counts(AGENT_CHANNEL)) {
      const { team, sessionId } = addressOfLane(one.lane) ?? {}
      const isWanted =
        scope === "all" ||
        (team !== undefined && scope.has(team)) ||
        (sessionId !== undefined && (await isIn(scope, await store.sessions.byId(sessionId))))
      if (one.state === "queued" && isWanted) found.push(one)
    }
    return found
  }
  const named = async (sessionId: SessionId) => {
    const session = await store.sessions.byId(sessionId)
    return session ? nameOf(session) : sessionId.slice(0, 8)
  }
  const waitingFor = async (sessionId: SessionId) =>
    store.deliveries.ofLanes(lanesOf({ sessionId }), { states: ["queued"], first: MOST_LISTED + 1 })

  const ofSession = async (topic: Topic, sessionId: SessionId): Promise<string> => {
    const waiting = await waitingFor(sessionId)
    const why = shownReason(waiting[0]?.outcome ?? null)
    return [
      await named(sessionId),
      `The agent ${stateOf(await live.ofSession(sessionId))}.`,
      waiting.length === 0 ? "No pending messages." : `${count(waiting.length)} for it${why ? `: ${why}` : ""}.`,
      `${topic.isMuted ? "Muted" : "Not muted"}, ${topic.verbosity}.`,
    ].join("\n")
  }

  return {
    async status(topic: Topic | undefined, scope: Scope): Promise<string> {
      if (topic?.sessionId) return ofSession(topic, topic.sessionId)
      const agents = await attended(scope)
      const queued = await waitingLanes(scope)
      const state = (await store.bots.byId(bot))?.state ?? "ok"
      const busy = agents.filter(({ status }) => status === "busy").length
      const waiting = agents.filter(({ status }) => status === "waiting").length
      return [
        `${host}: ${agents.length} live, ${busy} busy, ${waiting} waiting for somebody.`,
        `${count(queued.reduce((sum, one) => sum + one.count, 0))} for agents. The bot is ${state}.`,
      ].join("\n")
    },

    async sessions(scope: Scope): Promise<string> {
      const agents = await attended(scope)
      if (agents.length === 0) return `No session is live on ${host}. /resume lists those that ended.`
      const lines = await Promise.all(
        agents.slice(0, MOST_LISTED).map(async (agent) => `• ${await named(agent.session.id)} ${stateOf(agent)}`),
      )
      return [`Live on ${host}:`, ...lines, ...more(agents.length)].join("\n")
    },

    async queue(topic: Topic | undefined, scope: Scope): Promise<string> {
      if (topic?.sessionId) {
        const waiting = await waitingFor(topic.sessionId)
        if (waiting.length === 0) return "No pending messages."
        const lines = waiting
          .slice(0, MOST_LISTED)
          .map((one, at) => `${at + 1}. ${clip(messageOf(one).text, HEAD_CHARS)}`)
        const why = shownReason(waiting[0]?.outcome ?? null)
        return [...(why ? [`The first waits: ${why}.`] : []), ...lines, ...more(waiting.length)].join("\n")
      }
      const lanes = await waitingLanes(scope)
      if (lanes.length === 0) return `No pending messages on ${host}.`
      const lines = await Promise.all(
        lanes.slice(0, MOST_LISTED).map(async (one) => `• ${await laneName(one.lane)}: ${one.count}`),
      )
      return [`Waiting on ${host}:`, ...lines, ...more(lanes.length)].join("\n")
    },

    /** The teams and folders that can be started. */
    startable(scope: Scope): string {
      const known = roster.list().filter(({ name }) => scope === "all" || scope.has(name))
      const teams = known.map(({ name, projectDir }) => `• /new ${name} (${projectDir})`)
      const how = scope === "all" ? `/new <team>, or /new <folder> on ${host}.` : "/new <team>; in this chat only:"
      return [how, ...teams.slice(0, MOST_LISTED)].join("\n")
    },

    async ended(scope: Scope): Promise<{ words: string; buttons?: OutgoingButton[][] }> {
      const found = await resuming.ended(MOST_BUTTONS, (session) => isIn(scope, session))
      if (found.length === 0) return { words: `No ended session can be resumed here, on ${host}.` }
      const buttons = found.map((session) => [{ label: nameOf(session), data: `${BUTTON.resume}:${session.id}` }])
      return { words: `Ended on ${host}. Which one should be resumed?`, buttons }
    },

    async byPrefix(prefix: string, scope: Scope): Promise<Session[]> {
      const found = /^[0-9a-f-]{4,}$/i.test(prefix) ? await sessionsByPrefix(store, prefix.toLowerCase()) : []
      const wanted: Session[] = []
      for (const session of found) if (await isIn(scope, session)) wanted.push(session)
      return wanted
    },
  }

  async function laneName(lane: string): Promise<string> {
    const { team = lane, sessionId } = addressOfLane(lane) ?? {}
    return sessionId === undefined ? team : named(sessionId)
  }
}

const nameOf = ({ title, projectPath, rootUri }: Session) => {
  const dir = projectPath ?? (rootUri?.startsWith("file://") ? fileURLToPath(rootUri) : "")
  return [basename(dir), clip(title, TITLE_CHARS)].filter((part) => part !== "").join(" • ")
}

function stateOf(agent: LiveAgent | undefined): string {
  if (!agent || agent.status === "gone") return "has ended"
  if (agent.status === "waiting") return `waits for ${plainWords(agent.waitingFor ?? "an answer")}`
  return `is ${agent.status}`
}

const more = (total: number) => (total > MOST_LISTED ? [`… and ${total - MOST_LISTED} more`] : [])
const count = (messages: number) => (messages === 1 ? "1 message waits" : `${messages} messages wait`)

function clip(text: string, chars: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  const all = [...line]
  return all.length <= chars ? line : `${all.slice(0, chars - 1).join("")}…`
}
