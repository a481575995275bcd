import type { ask } from "../api.ts"
import { Agent } from "./agent.tsx"

type Relative = Awaited<ReturnType<typeof ask<"sessions.outline">>>["lineage"][number]

/** The sessions this one came from and those that continued it. */
export function Lineage({ lineage, title }: { lineage: readonly Relative[]; title: string }) {
  if (lineage.length === 0) return null
  const before = lineage.filter(({ isParent }) => isParent)
  const after = lineage.filter(({ isParent }) => !isParent)
  return (
    <ol class="lineage" aria-label="Related sessions">
      {before.map((one) => (
        <Link key={one.sessionId} one={one} />
      ))}
      <li aria-current="true">{title || "This session"}</li>
      {after.map((one) => (
        <Link key={one.sessionId} one={one} />
      ))}
    </ol>
  )
}

function Link({ one: { sessionId, title, platform, kind } }: { one: Relative }) {
  return (
    <li>
      <a href={`/sessions/${sessionId}`}>{title || "Untitled"}</a> <Agent platform={platform} />{" "}
      <span class="muted">{kind}</span>
    </li>
  )
}
