import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { SessionId } from "../../domain/ids.ts"
import { AGENT_CHANNEL, addressOfLane, lanesOf, messageOf } from "../../domain/message.ts"
import { type OutgoingButton, TAP } from "../../domain/outgoing.ts"
import { plainWords, shownReason } from "../../domain/reason.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import type { Topic } from "../../domain/topic.ts"
import type { Resuming } from "../keeping/resuming.ts"
import type { LiveAgent, LiveSessions } from "../watching/live.ts"

export interface FactsDeps {
  store: Store
  live: Pick<LiveSessions, "all" | "ofSession">
  roster: Roster
  resuming: Pick<Resuming, "ended">
  host: string
  /** channel:botId */
  bot: string
}

/** What commands are answered with. */
export interface Facts {
  status(topic: Topic | undefined): Promise<string>
  sessions(): Promise<string>
  queue(topic: Topic | undefined): Promise<string>
  /** What can be started. */
  startable(): Promise<string>
  ended(): Promise<{ words: string; buttons?: OutgoingButton[][] }>
  byPrefix(prefix: string): Promise<Session[]>
}

const MOST_LISTED = 20
const MOST_BUTTONS = 8
const HEAD_CHARS = 80
const TITLE_CHARS = 48

export function makeFacts({ store, live, roster, resuming, host, bot }: FactsDeps): Facts {
  const attended = async () => (await live.all()).filter(({ isUnattended }) => !isUnattended)
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
      waiting.length === 0 ? "Nothing waits for it." : `${count(waiting.length)} for it${why ? `: ${why}` : ""}.`,
      `${topic.isMuted ? "Muted" : "Not muted"}, ${topic.verbosity}.`,
    ].join("\n")
  }

  return {
    async status(topic) {
      if (topic?.sessionId) return ofSession(topic, topic.sessionId)
      const agents = await attended()
      const queued = (await store.deliveries.counts(AGENT_CHANNEL)).filter(({ state }) => state === "queued")
      const state = (await store.bots.byId(bot))?.state ?? "ok"
      const busy = agents.filter(({ status }) => status === "busy").length
      const waiting = agents.filter(({ status }) => status === "waiting").length
      return [
        `${host}: ${agents.length} live, ${busy} busy, ${waiting} waiting for somebody.`,
        `${count(queued.reduce((sum, one) => sum + one.count, 0))} for agents. The bot is ${state}.`,
      ].join("\n")
    },

    async sessions() {
      const agents = await attended()
      if (agents.length === 0) return `No session is live on ${host}. /resume lists those that ended.`
      const lines = await Promise.all(
        agents.slice(0, MOST_LISTED).map(async (agent) => `• ${await named(agent.session.id)} ${stateOf(agent)}`),
      )
      return [`Live on ${host}:`, ...lines, ...more(agents.length)].join("\n")
    },

    async queue(topic) {
      if (topic?.sessionId) {
        const waiting = await waitingFor(topic.sessionId)
        if (waiting.length === 0) return "Nothing waits for this session."
        const lines = waiting
          .slice(0, MOST_LISTED)
          .map((one, at) => `${at + 1}. ${clip(messageOf(one).text, HEAD_CHARS)}`)
        const why = shownReason(waiting[0]?.outcome ?? null)
        return [...(why ? [`The first waits: ${why}.`] : []), ...lines, ...more(waiting.length)].join("\n")
      }
      const lanes = (await store.deliveries.counts(AGENT_CHANNEL)).filter(({ state }) => state === "queued")
      if (lanes.length === 0) return `Nothing waits on ${host}.`
      const lines = await Promise.all(
        lanes.slice(0, MOST_LISTED).map(async (one) => `• ${await laneName(one.lane)}: ${one.count}`),
      )
      return [`Waiting on ${host}:`, ...lines, ...more(lanes.length)].join("\n")
    },

    async startable() {
      const teams = roster.list().map(({ name, projectDir }) => `• /new ${name} (${projectDir})`)
      return [`/new <team>, or /new <folder> on ${host}.`, ...teams.slice(0, MOST_LISTED)].join("\n")
    },

    async ended() {
      const found = await resuming.ended(MOST_BUTTONS)
      if (found.length === 0) return { words: `No session that ended can go on here, on ${host}.` }
      const buttons = found.map((session) => [{ label: nameOf(session), data: `${TAP.resume}:${session.id}` }])
      return { words: `Ended on ${host}. Which one goes on?`, buttons }
    },

    async byPrefix(prefix) {
      return /^[0-9a-f-]{4,}$/i.test(prefix) ? store.sessions.byPrefix(prefix.toLowerCase()) : []
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
