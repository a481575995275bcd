import type { ask } from "../api.ts"
import { agentLabel, projectName } from "./agent.tsx"
import { money, short } from "./figures.ts"
import { Numbers } from "./numbers.tsx"
import { lasting } from "./time.tsx"

type Report = Awaited<ReturnType<typeof ask<"analytics">>>

/** Every table of the report, collapsed. */
export function Tables({ report: { days, agents, projects, sessions } }: { report: Report }) {
  const head = ["Sessions", "Prompts", "Asks", "Input", "Output", "Cost"]
  return (
    <div class="panel tables">
      <h2>All data</h2>
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
        title="Top sessions by tokens"
        head={["Session", "Agent", "Prompts", "Input", "Output", "Length", "Cost"]}
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
