import { ask } from "../api.ts"
import { type Asked, useAsk } from "./ask.ts"
import { Time } from "./time.tsx"

interface Restart {
  team: string
  at: string
  words: string
  sessionId: string | undefined
}

async function ofToday(): Promise<Restart[]> {
  const midnight = new Date(new Date().setHours(0, 0, 0, 0)).toISOString()
  const { teams } = await ask("teams.list", {})
  const found = await Promise.all(
    teams.map(async ({ name }) => {
      const { updates, session_restart: newest } = await ask("pull_updates", {
        target: name,
        since: midnight,
        limit: 200,
      })
      const workedOn = newest?.working_on ? ` It was working on: ${newest.working_on}` : ""
      return updates
        .filter(({ type }) => type === "session_restart")
        .map(({ created_at, content, session_id }, index, all) => ({
          team: name,
          at: created_at,
          // Of the newest it is told what was lost by it.
          words: `${content.split(" Session: ")[0]}${index === all.length - 1 ? workedOn : ""}`,
          sessionId: session_id,
        }))
    }),
  )
  const restarts = found.flat().toSorted((a, b) => (a.at < b.at ? 1 : -1))
  if (restarts.length === 0) return restarts
  // Updates name sessions as their agents do.
  const { sessions } = await ask("sessions.list", { limit: RECENT })
  const ids = new Map(sessions.map(({ nativeId, id }) => [nativeId, id]))
  return restarts.map((restart) => ({ ...restart, sessionId: ids.get(restart.sessionId ?? "") }))
}

const RECENT = 200

export const useRestarts = () =>
  useAsk(ofToday, { on: ({ kind }) => kind === "team.restarted" || kind === "session.started", everyMs: 60_000 }).value

/** Which teams' sessions ended today and began anew. */
export function Restarts({ value }: Asked<Restart[]>) {
  if (!value || value.length === 0) return null
  return (
    <section class="section" aria-label="Restarts of today">
      <h2>Restarts today</h2>
      <ul class="rows">
        {value.map(({ team, at, words, sessionId }) => (
          <li key={`${team} ${at}`} class="stuck">
            <span class="row-facts">
              {sessionId === undefined ? <strong>{team}</strong> : <a href={`/sessions/${sessionId}`}>{team}</a>}
              <Time at={at} />
            </span>
            <span>{words}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
