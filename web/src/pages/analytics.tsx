import { useMemo } from "preact/hooks"
import { ask } from "../api.ts"
import { go, query } from "../router.ts"
import { agentLabel, projectName } from "../ui/agent.tsx"
import { useAsk } from "../ui/ask.ts"
import { Empty } from "../ui/empty.tsx"
import { Plot } from "../ui/plot.tsx"
import { Scroll } from "../ui/scroll.tsx"
import { lasting } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"

type Report = Awaited<ReturnType<typeof ask<"analytics">>>

const SPANS = [7, 30, 90, 365]
const DAY_MS = 24 * 60 * 60 * 1000

/** What was said, used and paid, over time. */
export function Analytics() {
  const days = Number(query.value.get("days") ?? 30)
  const { value, trouble } = useAsk(
    () => ask("analytics", { since: new Date(Date.now() - days * DAY_MS).toISOString(), limit: 12 }),
    { again: [days] },
  ).value
  return (
    <>
      <div class="page-line">
        <h1>Analytics</h1>
        <fieldset class="spans">
          <legend class="sr-only">How far back</legend>
          {SPANS.map((span) => (
            <button
              key={span}
              type="button"
              class="button"
              aria-pressed={span === days}
              onClick={() => go(`/analytics?days=${span}`, { replace: true })}
            >
              {span} days
            </button>
          ))}
        </fieldset>
      </div>
      <Trouble text={trouble} />
      {!value ? <Loading lines={6} /> : value.total.sessions === 0 ? <Nothing /> : <Shown report={value} />}
    </>
  )
}

const Nothing = () => (
  <Empty
    title="Nothing was said in this time"
    hint="Choose a longer time, or let an agent work: figures come by themselves."
  />
)

function Shown({ report }: { report: Report }) {
  const { total, days, agents, projects, sessions, pairs, lifetimeMs } = report
  const dates = useMemo(() => days.map(({ day }) => day), [days])
  const prompts = useMemo(() => [{ label: "prompts", values: days.map((day) => day.prompts) }], [days])
  const tokens = useMemo(
    () => [
      { label: "read", values: days.map((day) => day.inputTokens) },
      { label: "written", values: days.map((day) => day.outputTokens) },
    ],
    [days],
  )
  return (
    <>
      <dl class="figures">
        <Figure name="Sessions" value={total.sessions.toLocaleString()} />
        <Figure name="Prompts" value={total.prompts.toLocaleString()} />
        <Figure name="Asks" value={total.asks.toLocaleString()} />
        <Figure name="Tokens read" value={short(total.inputTokens)} />
        <Figure name="Tokens written" value={short(total.outputTokens)} />
        <Figure name="Cost, as told" value={money(total.costUsd)} />
        {lifetimeMs && <Figure name="Half of sessions last" value={lasting(lifetimeMs.medianMs)} />}
      </dl>
      <div class="plots">
        <section class="panel">
          <h2>Prompts a day</h2>
          <Plot days={dates} series={prompts} label="Prompts a day" />
        </section>
        <section class="panel">
          <h2>Tokens a day</h2>
          <Plot days={dates} series={tokens} label="Tokens a day, read and written" format={short} />
        </section>
      </div>
      <Numbers
        title="Days"
        head={["Day", "Sessions", "Prompts", "Asks", "Read", "Written", "Cost"]}
        rows={days.toReversed().map((day) => [day.day, ...cells(day)])}
      />
      <Numbers
        title="Agents"
        isOpen
        head={["Agent", "Sessions", "Prompts", "Asks", "Read", "Written", "Cost"]}
        rows={agents.map((agent) => [agentLabel(agent.platform), ...cells(agent)])}
      />
      <Numbers
        title="Projects"
        isOpen
        head={["Project", "Sessions", "Prompts", "Asks", "Read", "Written", "Cost"]}
        rows={projects.map((project) => [projectName(project.project) || "no project", ...cells(project)])}
      />
      {pairs.length > 0 && (
        <Numbers
          title="Busiest pairs"
          isOpen
          head={["Pair", "Asks", "Answer, half within", "95 % within", "Cost"]}
          rows={pairs.map((pair) => [
            `${pair.from ?? "you"} → ${pair.to}`,
            pair.asks,
            pair.responseMs ? lasting(pair.responseMs.medianMs) : "–",
            pair.responseMs ? lasting(pair.responseMs.p95Ms) : "–",
            money(pair.costUsd),
          ])}
        />
      )}
      <Numbers
        title="Sessions that used most"
        head={["Session", "Agent", "Prompts", "Read", "Written", "Lasted", "Cost"]}
        rows={sessions.map((session) => [
          session.id === undefined ? (
            session.title
          ) : (
            <a href={`/sessions/${session.id}`}>{session.title || "Untitled"}</a>
          ),
          agentLabel(session.platform),
          session.prompts,
          short(session.inputTokens),
          short(session.outputTokens),
          lasting(session.lifetimeMs),
          money(session.costUsd),
        ])}
      />
    </>
  )
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div class="figure">
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

type CellContent = string | number | preact.JSX.Element

function Numbers(props: {
  title: string
  head: readonly string[]
  rows: readonly (readonly CellContent[])[]
  isOpen?: boolean
}) {
  const { title, head, rows, isOpen = false } = props
  return (
    <details class="numbers" open={isOpen}>
      <summary>{title}</summary>
      <Scroll label={title}>
        <table>
          <thead>
            <tr>
              {head.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  )
}

type Counted = Report["total"]
const cells = ({ sessions, prompts, asks, inputTokens, outputTokens, costUsd }: Counted) => [
  sessions,
  prompts,
  asks,
  short(inputTokens),
  short(outputTokens),
  money(costUsd),
]

const short = (value: number) =>
  Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(value)
const money = (value: number | undefined) => (value === undefined ? "–" : `$${value.toFixed(2)}`)
