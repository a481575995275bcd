import { useMemo } from "preact/hooks"
import type { ask } from "../api.ts"
import { agentLabel, projectName } from "./agent.tsx"
import { money, short } from "./figures.ts"
import { Panel } from "./numbers.tsx"
import { Plot } from "./plot.tsx"
import { Tables } from "./report-tables.tsx"
import { Lifetimes, Pairs } from "./report-times.tsx"
import { everyDay, type Series, seriesOf, total } from "./series.ts"

type Report = Awaited<ReturnType<typeof ask<"analytics">>>
type Day = Report["agents"][number]["days"][number]

/** Lines in one plot that can still be told apart. */
const MOST = 5

/** Totals, plots and tables. */
export function Report({ report }: { report: Report }) {
  const { total: all } = report
  return (
    <>
      <dl class="figures">
        <Figure name="Sessions" value={all.sessions.toLocaleString()} />
        <Figure name="Prompts" value={all.prompts.toLocaleString()} />
        <Figure name="Prompts per session" value={all.promptsPerSession.toLocaleString()} />
        <Figure name="Asks" value={all.asks.toLocaleString()} />
        <Figure name="Input tokens" value={short(all.inputTokens)} />
        <Figure name="Output tokens" value={short(all.outputTokens)} />
        <Figure name="Reported cost" value={money(all.costUsd)} />
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
          ["Total", ...series.map(({ values }) => format(total(values)))],
        ],
      }}
    >
      {series.length > 0 ? (
        <Plot days={dates} series={series} label={title} format={format} />
      ) : (
        <p class="plot-none">No agent reported this in the selected period.</p>
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
    { label: "output", days: days.map(({ day, outputTokens }) => ({ day, tokens: outputTokens })) },
    { label: "input", days: days.map(({ day, inputTokens }) => ({ day, tokens: inputTokens })) },
  ]
  return {
    dates,
    plots: [
      { title: "Prompts per day, by agent", series: of(byAgent, ({ prompts }) => prompts), format: inFull },
      {
        title: "Tokens per day",
        series: seriesOf(used, dates, { of: ({ tokens }) => tokens, most: 2 }),
        format: short,
      },
      { title: "Tokens by agent", series: of(byAgent, ({ tokens }) => tokens), format: short },
      { title: "Tokens by project", series: of(byProject, ({ tokens }) => tokens), format: short },
      { title: "Cost by agent", series: of(byAgent, ({ costUsd }) => costUsd), format: money },
      { title: "Cost by project", series: of(byProject, ({ costUsd }) => costUsd), format: money },
    ],
  }
}

const inFull = (value: number) => (Number.isInteger(value) ? value.toLocaleString() : "")
