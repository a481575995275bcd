import { ask } from "../api.ts"
import { useAsk } from "../ui/ask.ts"
import { AskForm } from "../ui/ask-form.tsx"
import { Empty } from "../ui/empty.tsx"
import { Matrix } from "../ui/matrix.tsx"
import { Pairing } from "../ui/pairing.tsx"
import { Permissions } from "../ui/permissions.tsx"
import { Queues } from "../ui/queues.tsx"
import { Time } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"
import { waits } from "../ui/waits.ts"

type State = Awaited<ReturnType<typeof ask<"teams_status">>>

const isAboutTeams = ({ kind }: { kind: string }) => /^(team|teams|ask|pair|message|permission)\./.test(kind)

/** The matrix of pairs, their processes, the queues, and a form to ask a team. */
export function Teams() {
  const { value, trouble } = useAsk(() => ask("teams_status", {}), { on: isAboutTeams, everyMs: 2_000 }).value
  const queue = useAsk(() => ask("queue_status", {}), { on: ({ kind }) => kind.startsWith("message.") }).value
  // Rendered together: a late section would shift the rest.
  const isReady = [waits.value, queue].every((asked) => asked.value ?? asked.trouble)
  if (!value || !isReady) return trouble === undefined ? <Loading lines={6} /> : <Trouble text={trouble} />
  if (value.teams.length === 0)
    return (
      <>
        <h1>Teams</h1>
        <Empty
          title="No teams yet"
          hint={
            <>
              A team is a named project with an agent. <code>throughline teams add backend --project /path/to/it</code>{" "}
              adds one; agents can then ask each other, and you can ask them from here.
            </>
          }
        />
      </>
    )
  const waiting = waits.value.value?.permissions ?? []
  return (
    <>
      <h1>Teams</h1>
      <Trouble text={trouble} />
      {waiting.length > 0 && (
        <section class="section" aria-label="Permission requests">
          <h2>Permission requests</h2>
          <Permissions permissions={waiting} />
        </section>
      )}
      <Matrix state={value} />
      <AskForm teams={value.teams.map(({ name }) => name)} />
      <Processes processes={value.processes} teams={value.teams} />
      <Queues targets={queue.value?.targets ?? []} teams={value.teams} />
    </>
  )
}

function Processes({ processes, teams }: Pick<State, "processes" | "teams">) {
  if (processes.length === 0) return null
  return (
    <section class="section" aria-label="Processes">
      <h2>Processes</h2>
      <ul class="rows">
        {processes.map(({ pid, from, to, threadId, state, memoryMb, lastUsedAt }) => (
          <li key={`${pid} ${from} ${to} ${threadId}`} class="row-link">
            <span class="row-title">
              <Pairing from={from} to={to} teams={teams} />{" "}
              <span class="muted">{threadId === "main" ? "" : threadId}</span>
            </span>
            <span class="row-facts">
              <span class={`state state-${state}`}>{state}</span>
              <span>{memoryMb === undefined ? "" : `${memoryMb} MB`}</span>
              <span>{pid === undefined ? "" : `pid ${pid}`}</span>
              <Time at={lastUsedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
