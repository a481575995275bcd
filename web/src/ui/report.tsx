import { useMemo } from "preact/hooks"
import type { ask } from "../api.ts"
import { agentLabel, projectName } from "./agent.tsx"
import { Bars } from "./bars.tsx"
import { Numbers, Panel } from "./numbers.tsx"
import { Plot } from "./plot.tsx"
import { everyDay, type Series, seriesOf, total } from "./series.ts"
import { counted, lasting } from "./time.tsx"

type Report = Awaited<ReturnType<typeof ask<"analytics">>>
type Day = Report["agents"][number]["days"][number]

/** More than these in one plot nobody can tell apart. */
const MOST = 5

/** The plots, and the figures behind them. */
export function Report({ report }: { report: Report }) {
  const { total: all } = report
  return (
    <>
      <dl class="figures">
        <Figure name="Sessions" value={all.sessions.toLocaleString()} />
        <Figure name="Prompts" value={all.prompts.toLocaleString()} />
        <Figure name="Per session" value={all.promptsPerSession.toLocaleString()} />
        <Figure name="Asks" value={all.asks.toLocaleString()} />
        <Figure name="Tokens read" value={short(all.inputTokens)} />
        <Figure name="Tokens written" value={short(all.outputTokens)} />
        <Figure name="Cost, as told" value={money(all.costUsd)} />
      </dl>
      <div class="plots">
        <DayPlots report={report} />
        <Lifetimes report={report} />
        {report.pairs.length > 0 && <Pairs report={report} />}
      </div>
      <Tables report={report} />
    </>
  )
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div class="figure">
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

function DayPlots({ report }: { report: Report }) {
  const { dates, plots } = useMemo(() => plotsOf(report), [report])
  return plots.map(({ title, series, format }) => (
    <Panel
      key={title}
      title={title}
      numbers={{
        head: ["Day", ...series.map(({ label }) => label)],
        rows: [
          ...dates.map((day, at) => [day, ...series.map(({ values }) => format(values[at]!))]).toReversed(),
          ["All", ...series.map(({ values }) => format(total(values)))],
        ],
      }}
    >
      {series.length > 0 ? (
        <Plot days={dates} series={series} label={title} format={format} />
      ) : (
        <p class="plot-none">No agent told it in this time.</p>
      )}
    </Panel>
  ))
}

interface DayPlot {
  title: string
  series: Series[]
  format(value: number): string
}

function plotsOf({ days, agents, projects }: Report): { dates: string[]; plots: DayPlot[] } {
  const dates = everyDay(days.map(({ day }) => day))
  const whole = days.map(({ inputTokens, outputTokens, ...day }) => ({ ...day, tokens: inputTokens + outputTokens }))
  const byAgent = agents.map(({ platform, days: of }) => ({ label: agentLabel(platform), days: of }))
  const byProject = projects.map(({ project, days: of }) => ({ label: projectName(project) || "no project", days: of }))
  const of = (things: typeof byAgent, value: (day: Day) => number | undefined) =>
    seriesOf(things, dates, { of: value, most: MOST, rest: whole })
  const used = [
    { label: "written", days: days.map(({ day, outputTokens }) => ({ day, tokens: outputTokens })) },
    { label: "read", days: days.map(({ day, inputTokens }) => ({ day, tokens: inputTokens })) },
  ]
  return {
    dates,
    plots: [
      { title: "Prompts a day, by agent", series: of(byAgent, ({ prompts }) => prompts), format: inFull },
      { title: "Tokens a day", series: seriesOf(used, dates, { of: ({ tokens }) => tokens, most: 2 }), format: short },
      { title: "Tokens by agent", series: of(byAgent, ({ tokens }) => tokens), format: short },
      { title: "Tokens by project", series: of(byProject, ({ tokens }) => tokens), format: short },
      { title: "Cost by agent", series: of(byAgent, ({ costUsd }) => costUsd), format: money },
      { title: "Cost by project", series: of(byProject, ({ costUsd }) => costUsd), format: money },
    ],
  }
}

function Lifetimes({ report: { lasted, lifetimeMs } }: { report: Report }) {
  if (!lifetimeMs) return null
  const names = lasted.map(({ upToMs }, at) => {
    const from = lasted[at - 1]?.upToMs
    if (from === undefined) return `under ${lasting(upToMs!)}`
    return upToMs === undefined ? `over ${lasting(from)}` : `${lasting(from)} to ${lasting(upToMs)}`
  })
  return (
    <Panel
      title="How long sessions last"
      numbers={{
        head: ["", "Time"],
        rows: [
          ["Half within", lasting(lifetimeMs.medianMs)],
          ["95 % within", lasting(lifetimeMs.p95Ms)],
          ["Longest", lasting(lifetimeMs.longestMs)],
        ],
      }}
    >
      <p class="muted">
        Half of them within {lasting(lifetimeMs.medianMs)}, 95 % within {lasting(lifetimeMs.p95Ms)}.
      </p>
      <Bars
        label="Sessions by how long they lasted"
        bars={lasted.map(({ sessions }, at) => ({
          name: names[at]!,
          value: sessions,
          words: counted(sessions, "session"),
        }))}
      />
    </Panel>
  )
}

function Pairs({ report: { pairs } }: { report: Report }) {
  const nameOf = ({ from, to, thread }: Report["pairs"][number]) =>
    `${from ?? "you"} → ${to}${thread === "main" ? "" : ` (${thread})`}`
  const answered = pairs.filter(({ responseMs }) => responseMs !== undefined)
  return (
    <>
      <Panel
        title="Busiest pairs"
        numbers={{
          head: ["Pair", "Asks", "Failed", "Read", "Written", "Cost"],
          rows: pairs.map((pair) => [
            nameOf(pair),
            pair.asks,
            pair.states.failed ?? 0,
            short(pair.inputTokens),
            short(pair.outputTokens),
            money(pair.costUsd),
          ]),
        }}
      >
        <Bars
          label="Asks of each pair"
          bars={pairs.map((pair) => ({ name: nameOf(pair), value: pair.asks, words: counted(pair.asks, "ask") }))}
        />
      </Panel>
      {answered.length > 0 && (
        <Panel
          title="How long answers take"
          numbers={{
            head: ["Pair", "Answers", "Half within", "95 % within", "Longest", "At work, half within"],
            rows: answered.map((pair) => [
              nameOf(pair),
              pair.responseMs!.count,
              lasting(pair.responseMs!.medianMs),
              lasting(pair.responseMs!.p95Ms),
              lasting(pair.responseMs!.longestMs),
              pair.workMs ? lasting(pair.workMs.medianMs) : "–",
            ]),
          }}
        >
          <Bars
            label="How soon each pair is answered"
            bars={answered.map((pair) => ({
              name: nameOf(pair),
              value: pair.responseMs!.p95Ms,
              inner: pair.responseMs!.medianMs,
              words: `half within ${lasting(pair.responseMs!.medianMs)}, 95 % within ${lasting(pair.responseMs!.p95Ms)}`,
            }))}
          />
        </Panel>
      )}
    </>
  )
}

function Tables({ report: { days, agents, projects, sessions } }: { report: Report }) {
  const head = ["Sessions", "Prompts", "Asks", "Read", "Written", "Cost"]
  return (
    <div class="panel tables">
      <h2>All figures</h2>
      <Numbers
        title="Agents"
        head={["Agent", ...head]}
        rows={agents.map((one) => [agentLabel(one.platform), ...cells(one)])}
      />
      <Numbers
        title="Projects"
        head={["Project", ...head]}
        rows={projects.map((one) => [projectName(one.project) || "no project", ...cells(one)])}
      />
      <Numbers title="Days" head={["Day", ...head]} rows={days.toReversed().map((day) => [day.day, ...cells(day)])} />
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
    </div>
  )
}

const cells = ({
  sessions,
  prompts,
  asks,
  inputTokens,
  outputTokens,
  costUsd,
}: Omit<Report["total"], "promptsPerSession">) => [
  sessions,
  prompts,
  asks,
  short(inputTokens),
  short(outputTokens),
  money(costUsd),
]

const inFull = (value: number) => (Number.isInteger(value) ? value.toLocaleString() : "")
const short = (value: number) =>
  Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(value)
const money = (value: number | undefined) => (value === undefined ? "–" : `$${value.toFixed(2)}`)
