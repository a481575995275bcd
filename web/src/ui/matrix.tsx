import { useSignal } from "@preact/signals"
import type { ask } from "../api.ts"
import { Agent } from "./agent.tsx"
import { colourOf, Pairing, YOU } from "./pairing.tsx"
import { Scroll } from "./scroll.tsx"
import { TableHead } from "./table-head.tsx"
import { Team } from "./team.tsx"
import { counted, Time } from "./time.tsx"

type State = Awaited<ReturnType<typeof ask<"teams_status">>>
type Pair = State["pairs"][number]

/** A cell per pair of teams; one click lists its threads. */
export function Matrix({ state: { teams, pairs } }: { state: State }) {
  const chosen = useSignal<string | undefined>(undefined)
  const askers = [...new Set(pairs.map(({ from }) => from ?? YOU))].toSorted()
  const of = (from: string, to: string) => pairs.filter((pair) => (pair.from ?? YOU) === from && pair.to === to)
  return (
    <section class="section" aria-label="Who asks whom">
      <h2>Who asks whom</h2>
      <Scroll label="Matrix of pairs">
        <table class="matrix">
          <TableHead
            columns={[
              "From ↓ / To →",
              ...teams.map(({ name, platform, color }) => (
                <>
                  <Team name={name} color={color} /> <Agent platform={platform} />
                </>
              )),
            ]}
          />
          <tbody>
            {(askers.length === 0 ? [YOU] : askers).map((from) => (
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

const keyOf = ({ from, to }: Pair) => `${from ?? YOU} → ${to}`

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
      <span class="sr-only"> {messages === 1 ? "message" : "messages"} </span>
      {running > 0 && <span class="state state-running">asking</span>}
      {waiting > 0 && <span class="state state-queued">{waiting} queued</span>}
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
