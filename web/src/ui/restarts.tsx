import { ask } from "../api.ts"
import { type Asked, useAsk } from "./ask.ts"
import { counted, Time } from "./time.tsx"

const ofToday = () => ask("teams.restarts", { since: new Date(new Date().setHours(0, 0, 0, 0)).toISOString() })

export const useRestarts = () =>
  useAsk(ofToday, { on: ({ kind }) => kind === "team.restarted" || kind === "session.started", everyMs: 60_000 }).value

/** Today's restarts of team sessions. */
export function Restarts({ value }: Asked<Awaited<ReturnType<typeof ofToday>>>) {
  if (!value || value.restarts.length === 0) return null
  return (
    <section class="section" aria-label="Restarts today">
      <h2>Restarts today</h2>
      <ul class="rows">
        {value.restarts.map(({ team, at, cause, workingOn, pending, sessionId }) => (
          <li key={`${team} ${at}`} class="stuck" data-item>
            <span class="row-facts">
              {sessionId === undefined ? <strong>{team}</strong> : <a href={`/sessions/${sessionId}`}>{team}</a>}
              <span>{cause}</span>
              <Time at={at} />
            </span>
            {workingOn !== undefined && (
              <span class="stuck-text">
                <span class="muted">Was working on: </span>
                {workingOn}
              </span>
            )}
            {pending > 0 && <span class="muted">{counted(pending, "message")} queued</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}
