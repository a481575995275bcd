import { ask } from "../api.ts"
import { type Asked, useAsk } from "../ui/ask.ts"
import { Empty } from "../ui/empty.tsx"
import { Scroll } from "../ui/scroll.tsx"
import { Settings } from "../ui/settings.tsx"
import { TableHead } from "../ui/table-head.tsx"
import { counted, Time } from "../ui/time.tsx"
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

type Source = Awaited<ReturnType<typeof ask<"sources">>>["sources"][number]
type Answer<Name extends "doctor" | "sources" | "status"> = Asked<Awaited<ReturnType<typeof ask<Name>>>>

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

function Agents({ value, trouble }: Answer<"sources">) {
  const progress = value?.progress
  const [there, absent] = [true, false].map((isThere) =>
    (value?.sources ?? []).filter(
      ({ found, sessions, warning }) => (found || sessions > 0 || warning !== undefined) === isThere,
    ),
  ) as [Source[], Source[]]
  return (
    <section class="section" aria-label="Agents">
      <h2>Agents</h2>
      <Trouble text={trouble} />
      {progress?.importing && (
        <p>
          Importing: {progress.sourcesDone} of {progress.sourcesDone + progress.sourcesLeft} files.{" "}
          <progress
            aria-label="Import"
            value={progress.bytesDone}
            max={Math.max(1, progress.bytesDone + progress.bytesLeft)}
          />
        </p>
      )}
      {!value ? (
        <Loading lines={6} />
      ) : there.length === 0 ? (
        <Empty
          title="No agent was found on this machine"
          hint="Start one in any folder; it is detected within seconds."
        />
      ) : (
        <Scroll label="Agents">
          <table class="wide">
            <TableHead columns={["Agent", "Sessions", "Turns", "Files", "Size", "Last read", "Pending", "Skipped"]} />
            <tbody>
              {there.map((source) => (
                <tr key={source.platform}>
                  <th scope="row">{source.label}</th>
                  <td>{source.sessions.toLocaleString()}</td>
                  <td>{source.turns.toLocaleString()}</td>
                  <td>{source.sources.toLocaleString()}</td>
                  <td>{sized(source.sizeBytes)}</td>
                  <td>{source.lastReadAt && <Time at={source.lastReadAt} />}</td>
                  <td>{source.waiting || ""}</td>
                  <td>
                    {source.warning !== undefined && <em class="remedy">{source.warning}</em>}
                    {[
                      source.unreadable > 0 ? `${source.unreadable} unreadable` : "",
                      source.unknown > 0 ? `${source.unknown} unknown` : "",
                      ...source.troubles.map(({ path, trouble: why }) => `${path}: ${why}`),
                    ]
                      .filter((part) => part !== "")
                      .join(", ")}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {value && value.repositoryFiles.length > 0 && (
        <p>
          {counted(value.repositoryFiles.length, "file")} inside project folders. Untrusted ones are marked in search
          and left out of briefs; list them with <code>throughline sources</code>.
        </p>
      )}
      {absent.length > 0 && <p class="muted">Not installed: {absent.map(({ label }) => label).join(", ")}.</p>}
    </section>
  )
}

const sized = (bytes: number) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3).toLocaleString()} kB` : `${(bytes / 1e6).toFixed(1)} MB`

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
