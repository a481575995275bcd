import { Agent, projectName, Untrusted } from "./agent.tsx"
import { NO_FILTERS, setFilters } from "./choices.tsx"
import { Copy } from "./copy.tsx"
import { Empty } from "./empty.tsx"
import { activeFilters, NAMES } from "./filters.ts"
import { type Found, found, hasMore } from "./found.ts"
import { Handoff } from "./handoff.tsx"
import { MarkedText } from "./marked-text.tsx"
import { counted, Time } from "./time.tsx"

type Hit = Found["hits"][number]

/** Search results, best first. */
export function Hits({ onMore }: { onMore(): void }) {
  if (!found.value) return null
  const { hits, asked, notes } = found.value
  const address = new URLSearchParams(asked)
  const isMore = hasMore(found.value)
  return (
    <div data-asked={address.get("q")}>
      <p class={hits.length === 0 ? "sr-only" : "muted hits-note"} role="status">
        {hits.length === 0
          ? "No results."
          : isMore
            ? `Top ${counted(hits.length, "result")}.`
            : `${counted(hits.length, "result")}.`}{" "}
        {hits.length > 0 && notes.join(" ")}
      </p>
      {hits.length === 0 ? (
        <Nothing address={address} notes={notes} />
      ) : (
        <ol class="hits" aria-label="Results">
          {hits.map((hit) => (
            <HitCard key={`${hit.sessionId} ${hit.exchangeId} ${hit.thoughtNumber ?? ""}`} hit={hit} />
          ))}
        </ol>
      )}
      {isMore && (
        <button type="button" class="button more" onClick={onMore}>
          More results
        </button>
      )}
    </div>
  )
}

/** Names the query and its filters, with a button to clear each. */
function Nothing({ address, notes }: { address: URLSearchParams; notes: readonly string[] }) {
  const active = activeFilters(address)
  const said = ["No results for", `“${address.get("q")}”`, ...active.map((one) => one.words)]
  return (
    <Empty title={`${said.join(" ")}.`} hint={notes.join(" ")}>
      {active.length > 0 && (
        <div class="actions">
          {active.length > 1 && (
            <button type="button" class="button main-action" onClick={() => setFilters(NO_FILTERS)}>
              Clear all filters
            </button>
          )}
          {active.map(({ filter }) => (
            <button key={filter} type="button" class="button" onClick={() => setFilters({ [filter]: "" })}>
              Clear {NAMES[filter]} filter
            </button>
          ))}
        </div>
      )}
    </Empty>
  )
}

const KINDS: Record<string, string> = {
  prompt: "you",
  reply: "agent",
  reasoning: "thinking",
  tool_call: "tool",
  tool_result: "tool result",
  thought: "thought",
  summary: "summary",
}

function HitCard({ hit }: { hit: Hit }) {
  const { sessionId, platform, title, project, branch, exchangeId, kind, tool, at, snippet, marks } = hit
  const { user, ai, resumeCommand } = hit
  // The matching question is the title, so its answer goes below instead of the question again.
  const isQuestion = kind === "prompt"
  return (
    <li class="hit" data-item>
      <a class="card-title" href={`/sessions/${sessionId}?at=${exchangeId}`}>
        {isQuestion ? <MarkedText text={snippet} marks={marks} /> : user || title || "Untitled"}
      </a>
      {isQuestion ? (
        ai !== "" && <p class="snippet muted">{ai}</p>
      ) : (
        <p class={tool === undefined ? "snippet" : "snippet snippet-call"}>
          {tool !== undefined && <strong>{tool} </strong>}
          <MarkedText text={snippet} marks={marks} />
        </p>
      )}
      <div class="row-facts">
        <Agent platform={platform} />
        <Untrusted of={hit} />
        {project !== undefined && <span>{projectName(project)}</span>}
        {branch !== undefined && <span class="branch-name">{branch}</span>}
        <span>{KINDS[kind] ?? kind}</span>
        <Time at={at} />
        <span class="hit-actions">
          {resumeCommand && <Copy text={resumeCommand} label="Copy resume command" />}
          <Handoff sessionId={sessionId} />
        </span>
      </div>
    </li>
  )
}
