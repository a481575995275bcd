import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { Agent } from "../ui/agent.tsx"
import { useAsk } from "../ui/ask.ts"
import { AskForm } from "../ui/ask-form.tsx"
import { Empty } from "../ui/empty.tsx"
import { Permissions } from "../ui/permissions.tsx"
import { Scroll } from "../ui/scroll.tsx"
import { TableHead } from "../ui/table-head.tsx"
import { Team } from "../ui/team.tsx"
import { counted, Time } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"
import { waits } from "../ui/waits.ts"

type State = Awaited<ReturnType<typeof ask<"teams_status">>>
type Pair = State["pairs"][number]

const NOBODY = "you"
const isAboutTeams = ({ kind }: { kind: string }) => /^(team|teams|ask|pair|message|permission)\./.test(kind)

/** Who asks whom: the matrix, the processes behind it, the queues, and a question of one's own. */
export function Teams() {
  const { value, trouble } = useAsk(() => ask("teams_status", {}), { on: isAboutTeams, everyMs: 2_000 }).value
  const queue = useAsk(() => ask("queue_status", {}), { on: ({ kind }) => kind.startsWith("message.") }).value
  // Shown together, so that nothing is pushed away by what comes a moment later.
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
        <section class="section" aria-label="Permissions">
          <h2>Asks to be allowed</h2>
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

function Matrix({ state: { teams, pairs } }: { state: State }) {
  const chosen = useSignal<string | undefined>(undefined)
  const askers = [...new Set(pairs.map(({ from }) => from ?? NOBODY))].toSorted()
  const of = (from: string, to: string) => pairs.filter((pair) => (pair.from ?? NOBODY) === from && pair.to === to)
  return (
    <section class="section" aria-label="Who asks whom">
      <h2>Who asks whom</h2>
      <Scroll label="Matrix of pairs">
        <table class="matrix">
          <TableHead
            columns={[
              "asks ↓ is asked →",
              ...teams.map(({ name, platform, color }) => (
                <>
                  <Team name={name} color={color} /> <Agent platform={platform} />
                </>
              )),
            ]}
          />
          <tbody>
            {(askers.length === 0 ? [NOBODY] : askers).map((from) => (
              <tr key={from}>
                <th scope="row">
                  <Team name={from} color={colourOf(teams, from)} />
                </th>
                {teams.map(({ name }) => (
                  <td key={name}>
                    <Cell pairs={of(from, name)} name={`${from} → ${name}`} onOpen={(key) => (chosen.value = key)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {chosen.value !== undefined && (
        <Threads pairs={pairs.filter((pair) => keyOf(pair) === chosen.value)} teams={teams} />
      )}
    </section>
  )
}

const colourOf = (teams: State["teams"], name: string) => teams.find((team) => team.name === name)?.color

function Pairing({ from = NOBODY, to, teams }: { from?: string | undefined; to: string; teams: State["teams"] }) {
  return (
    <>
      <Team name={from} color={colourOf(teams, from)} /> → <Team name={to} color={colourOf(teams, to)} />
    </>
  )
}

const keyOf = ({ from, to }: Pair) => `${from ?? NOBODY} → ${to}`

function Cell({ pairs, name, onOpen }: { pairs: readonly Pair[]; name: string; onOpen(key: string): void }) {
  if (pairs.length === 0) return <span class="muted">·</span>
  const sum = (of: (pair: Pair) => number) => pairs.reduce((total, pair) => total + of(pair), 0)
  const [running, waiting, messages] = [
    sum((pair) => pair.running),
    sum((pair) => pair.waiting),
    sum((pair) => pair.messages),
  ]
  const state = running > 0 ? "running" : waiting > 0 ? "queued" : "idle"
  return (
    <button type="button" class={`cell cell-${state}`} onClick={() => onOpen(name)}>
      <span class="sr-only">{name}: </span>
      <strong>{messages}</strong>
      <span class="sr-only"> messages </span>
      {running > 0 && <span class="state state-running">asking</span>}
      {waiting > 0 && <span class="state state-queued">{waiting} waiting</span>}
    </button>
  )
}

function Threads({ pairs, teams }: { pairs: readonly Pair[]; teams: State["teams"] }) {
  return (
    <ul class="rows">
      {pairs.map((pair) => (
        <li key={pair.id} class="row-link">
          <span class="row-title">
            <Pairing from={pair.from} to={pair.to} teams={teams} /> <span class="muted">{pair.threadId}</span>
          </span>
          <span class="row-facts">
            <span>{counted(pair.messages, "message")}</span>
            {pair.messagesPerSession !== undefined && (
              <span title={counted(pair.sessions, "session")}>{pair.messagesPerSession} per session</span>
            )}
            <span>{pair.status}</span>
            <span>{pair.process}</span>
            <span>
              created <Time at={pair.createdAt} />
            </span>
            <span>
              used <Time at={pair.lastUsedAt} />
            </span>
          </span>
        </li>
      ))}
    </ul>
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

function Queues({ targets, teams }: Awaited<ReturnType<typeof ask<"queue_status">>> & Pick<State, "teams">) {
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
        <span>{pending + in_progress === 0 ? "nothing waits" : `${pending} waiting`}</span>
        {from && <span>from {from.join(", ")}</span>}
        {in_progress > 0 && <span>{in_progress} under way</span>}
        {fetches ? (
          <span>fetches its mail with pull_updates</span>
        ) : (
          waits_for && <span class="state state-queued">{waits_for}</span>
        )}
        {fetches && session_id && session_file_at && (
          <span>
            session {session_id}, in its file <Time at={session_file_at} />
          </span>
        )}
      </span>
    </li>
  )
}
