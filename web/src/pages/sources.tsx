import { ask } from "../api.ts"
import { Agents } from "../ui/agents-table.tsx"
import { type Asked, useAsk } from "../ui/ask.ts"
import { Settings } from "../ui/settings.tsx"
import { counted, sized } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"

const EVERY_MS = 5_000

/** Monitored agents, the daemon's state, and the settings. */
export function Sources() {
  const doctor = useAsk(() => ask("doctor", {}), { everyMs: 30_000 }).value
  const sources = useAsk(() => ask("sources", {}), { everyMs: EVERY_MS }).value
  const status = useAsk(() => ask("status", {}), { everyMs: EVERY_MS }).value
  // Rendered together: a late section would shift the rest.
  const isReady = [doctor, sources, status].every(({ value, trouble }) => value ?? trouble)
  return (
    <>
      <h1>Health</h1>
      {isReady ? (
        <>
          <Findings {...doctor} />
          <Agents {...sources} />
          <Daemon {...status} />
          <Settings />
        </>
      ) : (
        <Loading lines={10} />
      )}
    </>
  )
}

const MARK = { good: ["✓", "good"], warning: ["!", "warn"], wrong: ["✗", "bad"] } as const

type Answer<Name extends "doctor" | "status"> = Asked<Awaited<ReturnType<typeof ask<Name>>>>

function Findings({ value, trouble }: Answer<"doctor">) {
  return (
    <section class="section" aria-label="Checks">
      <h2>Checks</h2>
      <Trouble text={trouble} />
      {!value ? (
        <Loading />
      ) : (
        <>
          <p class={value.findings.every(({ state }) => state === "good") ? "verdict mark-good" : "verdict mark-warn"}>
            {value.verdict}
          </p>
          <ul class="rows">
            {value.findings.map(({ check, state, detail, remedy }) => (
              <li key={`${check} ${detail}`} class="finding">
                <span class={`mark-${MARK[state][1]}`} role="img" aria-label={state}>
                  {MARK[state][0]}
                </span>
                <strong>{check}</strong>
                <span>
                  {withTimes(detail)}
                  {remedy !== undefined && <em class="remedy">{remedy}</em>}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** Timestamps in the local format. */
const withTimes = (text: string) =>
  text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) => new Date(moment).toLocaleString())

const freshness = (behind = 0) => (behind === 0 ? "up to date" : `${behind.toLocaleString()} behind`)

function Daemon({ value }: Answer<"status">) {
  if (!value) return <Loading />
  const { store, search } = value
  const facts: [string, string][] = [
    ["Version", `${value.version}, pid ${value.pid}, ${value.memoryMb} MB`],
    ["Data directory", value.home],
    ["Database", `${store.kind} ${store.version}, ${sized(store.sizeBytes)}`],
    ["Stored", `${counted(store.sessions, "session")}, ${counted(store.thoughts, "thought")}`],
    [
      "Search index",
      search.trouble ?? `${(search.documents ?? 0).toLocaleString()} turns and thoughts, ${freshness(search.behind)}`,
    ],
    ...value.followers.map(({ name, lag }): [string, string] => [name, freshness(lag)]),
  ]
  return (
    <section class="section" aria-label="Daemon">
      <h2>Daemon</h2>
      <dl class="facts">
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
