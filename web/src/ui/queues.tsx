import type { ask } from "../api.ts"
import { colourOf } from "./pairing.tsx"
import { Team } from "./team.tsx"
import { Time } from "./time.tsx"

type State = Awaited<ReturnType<typeof ask<"teams_status">>>

/** Pending messages of each target. */
export function Queues({ targets, teams }: Awaited<ReturnType<typeof ask<"queue_status">>> & Pick<State, "teams">) {
  if (targets.length === 0) return null
  return (
    <section class="section" aria-label="Queues">
      <h2>Queues</h2>
      <ul class="rows">
        {targets.map((one) => (
          <Queue key={one.target} queue={one} color={colourOf(teams, one.target)} />
        ))}
      </ul>
    </section>
  )
}

type Target = Awaited<ReturnType<typeof ask<"queue_status">>>["targets"][number]

function Queue({ queue, color }: { queue: Target; color: string | undefined }) {
  const { target, pending, in_progress, current_task, waits_for, from, fetches, session_id, session_file_at } = queue
  return (
    <li class="row-link">
      <span class="row-title">
        <strong>
          <Team name={target} color={color} />
        </strong>{" "}
        {current_task && <span class="muted">{current_task}</span>}
      </span>
      <span class="row-facts">
        <span>{pending + in_progress === 0 ? "empty" : `${pending} queued`}</span>
        {from && <span>from {from.join(", ")}</span>}
        {in_progress > 0 && <span>{in_progress} in progress</span>}
        {fetches ? (
          <span>fetches messages itself</span>
        ) : (
          waits_for && <span class="state state-queued">{waits_for}</span>
        )}
        {fetches && session_id && session_file_at && (
          <span>
            session {session_id}, reported <Time at={session_file_at} />
          </span>
        )}
      </span>
    </li>
  )
}
