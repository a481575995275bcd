import { ask } from "../api.ts"
import { type Asked, useAsk } from "../ui/ask.ts"
import { Empty } from "../ui/empty.tsx"
import { Scroll } from "../ui/scroll.tsx"
import { Settings } from "../ui/settings.tsx"
import { TableHead } from "../ui/table-head.tsx"
import { Time } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"

const EVERY_MS = 5_000

/** Every agent that is looked at, and how the program itself is. */
export function Sources() {
  const doctor = useAsk(() => ask("doctor", {}), { everyMs: 30_000 }).value
  const sources = useAsk(() => ask("sources", {}), { everyMs: EVERY_MS }).value
  const status = useAsk(() => ask("status", {}), { everyMs: EVERY_MS }).value
  // Shown together, so that nothing is pushed away by what comes a moment later.
  const isReady = [doctor, sources, status].every(({ value, trouble }) => value ?? trouble)
  return (
    <>
      <h1>Health</h1>
      {isReady ? (
        <>
          <Findings {...doctor} />
          <Agents {...sources} />
          <Inside {...status} />
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
    <section class="section" aria-label="Findings">
      <h2>Findings</h2>
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

/** Moments as this place writes them. */
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
          Reading what is there: {progress.sourcesDone} of {progress.sourcesDone + progress.sourcesLeft} files.{" "}
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
          hint="Start one in any folder: what it keeps is found by itself, within seconds."
        />
      ) : (
        <Scroll label="Table of agents">
          <table class="wide">
            <TableHead columns={["Agent", "Sessions", "Turns", "Files", "Size", "Last read", "Waiting", "Skipped"]} />
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
          {value.repositoryFiles.length.toLocaleString()} of the files are inside of project folders. What an untrusted
          one says is marked, and left out of briefs: <code>throughline sources</code> lists them.
        </p>
      )}
      {absent.length > 0 && (
        <p class="muted">Looked for and not found: {absent.map(({ label }) => label).join(", ")}.</p>
      )}
    </section>
  )
}

const sized = (bytes: number) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3).toLocaleString()} kB` : `${(bytes / 1e6).toFixed(1)} MB`

function Inside({ value }: Answer<"status">) {
  if (!value) return <Loading />
  const { store, search } = value
  const facts: [string, string][] = [
    ["Version", `${value.version}, pid ${value.pid}, ${value.memoryMb} MB`],
    ["Home", value.home],
    ["Store", `${store.kind} ${store.version}, ${sized(store.sizeBytes)}`],
    ["Kept", `${store.sessions.toLocaleString()} sessions, ${store.thoughts.toLocaleString()} thoughts`],
    [
      "Search",
      search.trouble ?? `${(search.documents ?? 0).toLocaleString()} turns and thoughts, ${search.behind ?? 0} behind`,
    ],
    ...value.followers.map(({ name, lag }): [string, string] => [name, lag === 0 ? "up to date" : `${lag} behind`]),
  ]
  return (
    <section class="section" aria-label="Inside">
      <h2>Inside</h2>
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
