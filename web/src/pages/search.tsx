import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { ask } from "../api.ts"
import { go, query } from "../router.ts"
import { Agent, agentLabel, projectName } from "../ui/agent.tsx"
import { troubleOf, useAsk } from "../ui/ask.ts"
import { Copy } from "../ui/copy.tsx"
import { Empty } from "../ui/empty.tsx"
import { Handoff } from "../ui/handoff.tsx"
import { MarkedText } from "../ui/marked-text.tsx"
import { Time } from "../ui/time.tsx"
import { Trouble } from "../ui/trouble.tsx"

type Found = Awaited<ReturnType<typeof ask<"search">>>
type Hit = Found["hits"][number]

const LIMIT = 20
const ROLES = [
  ["", "anybody"],
  ["user", "me"],
  ["assistant", "the agent"],
  ["thought", "thoughts"],
  ["tool", "tools"],
] as const
const DAY_MS = 24 * 60 * 60 * 1000
const SPANS = [
  ["", "any time"],
  ["1", "last day"],
  ["7", "last week"],
  ["30", "last month"],
  ["365", "last year"],
] as const

/** Finds as one types. What is asked for stands in the address, so that it can be gone back to and passed on. */
export function Search() {
  const found = useSignal<(Found & { asked: string }) | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const field = useRef<HTMLInputElement>(null)
  const wish = Object.fromEntries(query.value) as Record<string, string>
  const sources = useAsk(() => ask("sources", {})).value.value?.sources ?? []

  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    const { q = "", agent, role, days, project } = wish
    let isOver = false
    if (q.trim() === "") {
      found.value = undefined
      return
    }
    ask("search", {
      query: q,
      limit: LIMIT,
      project: project || "all",
      ...(agent && { platform: agent }),
      ...(role && { role: role as "user" }),
      ...(days && { since: new Date(Date.now() - Number(days) * DAY_MS).toISOString() }),
    }).then(
      (answer) => {
        if (isOver) return
        found.value = { ...answer, asked: q }
        trouble.value = undefined
      },
      (error: unknown) => {
        if (!isOver) trouble.value = troubleOf(error)
      },
    )
    return () => {
      isOver = true
    }
  }, [query.value.toString()])

  const set = (name: string, value: string) => {
    const next = new URLSearchParams(query.peek())
    if (value === "") next.delete(name)
    else next.set(name, value)
    go(`/search${next.size > 0 ? `?${next}` : ""}`, { replace: true })
  }
  return (
    <>
      <h1 class="sr-only">Search</h1>
      <search class="search">
        <input
          ref={field}
          type="search"
          class="search-field"
          aria-label="Search all conversations"
          placeholder='What was said? Words, "exact phrase", prefix*, -without'
          value={wish.q ?? ""}
          onInput={(event) => set("q", event.currentTarget.value)}
          autoComplete="off"
          spellcheck={false}
        />
        <div class="filters">
          <Choice
            label="Agent"
            value={wish.agent}
            onChange={(value) => set("agent", value)}
            options={[
              ["", "any agent"],
              ...sources
                .filter(({ sessions }) => sessions > 0)
                .map(({ platform }) => [platform, agentLabel(platform)] as const),
            ]}
          />
          <Choice label="Said by" value={wish.role} onChange={(value) => set("role", value)} options={ROLES} />
          <Choice label="When" value={wish.days} onChange={(value) => set("days", value)} options={SPANS} />
        </div>
      </search>
      <Trouble text={trouble.value} />
      <Hits found={found.value} isAsked={(wish.q ?? "").trim() !== ""} />
    </>
  )
}

function Choice(props: {
  label: string
  value: string | undefined
  options: readonly (readonly [string, string])[]
  onChange(value: string): void
}) {
  const { label, value, options, onChange } = props
  return (
    <label class="choice">
      <span class="sr-only">{label}</span>
      <select value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

function Hits({ found, isAsked }: { found: (Found & { asked: string }) | undefined; isAsked: boolean }) {
  if (!isAsked)
    return (
      <Empty
        title="Everything that was said to and by your agents is here"
        hint="Type a few words of it. Old answers count as much as new ones."
      />
    )
  if (!found) return null
  return (
    <>
      <p class="muted hits-note" role="status">
        {found.hits.length === 0
          ? "Nothing was found."
          : `${found.hits.length}${found.hits.length === LIMIT ? " best" : ""} hits.`}{" "}
        {found.notes.join(" ")}
      </p>
      <ol class="hits" aria-label="Hits" data-asked={found.asked}>
        {found.hits.map((hit) => (
          <HitCard key={`${hit.sessionId} ${hit.exchangeId} ${hit.thoughtNumber ?? ""}`} hit={hit} />
        ))}
      </ol>
    </>
  )
}

function HitCard({ hit }: { hit: Hit }) {
  const { sessionId, platform, title, project, exchangeId, kind, at, snippet, marks, user, resumeCommand } = hit
  return (
    <li class="hit" data-item>
      <a class="card-title" href={`/sessions/${sessionId}?at=${exchangeId}`}>
        {user || title || "Untitled"}
      </a>
      <p class="snippet">
        <MarkedText text={snippet} marks={marks} />
      </p>
      <div class="row-facts">
        <Agent platform={platform} />
        <span>{projectName(project)}</span>
        <span>{kind.replace("_", " ")}</span>
        <Time at={at} />
        <span class="hit-actions">
          {resumeCommand && <Copy text={resumeCommand} label="Copy resume command" />}
          <Handoff sessionId={sessionId} />
        </span>
      </div>
    </li>
  )
}
