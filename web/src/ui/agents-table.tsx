import type { ask } from "../api.ts"
import type { Asked } from "./ask.ts"
import { Empty } from "./empty.tsx"
import { Scroll } from "./scroll.tsx"
import { TableHead } from "./table-head.tsx"
import { counted, sized, Time } from "./time.tsx"
import { Loading, Trouble } from "./trouble.tsx"

type Source = Awaited<ReturnType<typeof ask<"sources">>>["sources"][number]

/** The monitored agents, with the progress of an import. */
export function Agents({ value, trouble }: Asked<Awaited<ReturnType<typeof ask<"sources">>>>) {
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
