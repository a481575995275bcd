import { ask } from "../api.ts"
import { go, query } from "../router.ts"
import { useAsk } from "../ui/ask.ts"
import { Empty } from "../ui/empty.tsx"
import { Report } from "../ui/report.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"

const SPANS = [7, 30, 90, 365]
const DAY_MS = 24 * 60 * 60 * 1000
/** Of projects, sessions and pairs. */
const LIMIT = 12

/** Activity, tokens and cost over time. */
export function Analytics() {
  const days = Number(query.value.get("days") ?? 30)
  const { value, trouble } = useAsk(
    () => ask("analytics", { since: new Date(Date.now() - days * DAY_MS).toISOString(), limit: LIMIT }),
    { again: [days] },
  ).value
  return (
    <>
      <div class="page-line">
        <h1>Analytics</h1>
        <fieldset class="spans">
          <legend class="sr-only">Period</legend>
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
      {!value ? <Loading lines={6} /> : value.total.sessions === 0 ? <Nothing /> : <Report report={value} />}
    </>
  )
}

const Nothing = () => <Empty title="No activity in this period" hint="Pick a longer one." />
