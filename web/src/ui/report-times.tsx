import type { ask } from "../api.ts"
import { Bars } from "./bars.tsx"
import { money, short } from "./figures.ts"
import { Panel } from "./numbers.tsx"
import { counted, lasting } from "./time.tsx"

type Report = Awaited<ReturnType<typeof ask<"analytics">>>

/** How long sessions last. */
export function Lifetimes({ report: { lasted, lifetimeMs } }: { report: Report }) {
  if (!lifetimeMs) return null
  const names = lasted.map(({ upToMs }, at) => {
    const from = lasted[at - 1]?.upToMs
    if (from === undefined) return `under ${lasting(upToMs!)}`
    return upToMs === undefined ? `over ${lasting(from)}` : `${lasting(from)} to ${lasting(upToMs)}`
  })
  return (
    <Panel
      title="Session length"
      numbers={{
        head: ["", "Time"],
        rows: [
          ["Median", lasting(lifetimeMs.medianMs)],
          ["p95", lasting(lifetimeMs.p95Ms)],
          ["Longest", lasting(lifetimeMs.longestMs)],
        ],
      }}
    >
      <p class="muted">
        Median {lasting(lifetimeMs.medianMs)}, p95 {lasting(lifetimeMs.p95Ms)}
      </p>
      <Bars
        label="Sessions by length"
        bars={lasted.map(({ sessions }, at) => ({
          name: names[at]!,
          value: sessions,
          words: counted(sessions, "session"),
        }))}
      />
    </Panel>
  )
}

/** The busiest pairs, and how soon they are answered. */
export function Pairs({ report: { pairs } }: { report: Report }) {
  const nameOf = ({ from, to, thread }: Report["pairs"][number]) =>
    `${from ?? "you"} → ${to}${thread === "main" ? "" : ` (${thread})`}`
  const answered = pairs.filter(({ responseMs }) => responseMs !== undefined)
  return (
    <>
      <Panel
        title="Busiest pairs"
        numbers={{
          head: ["Pair", "Asks", "Failed", "Input", "Output", "Cost"],
          rows: pairs.map((pair) => [
            nameOf(pair),
            pair.asks,
            pair.states.failed ?? 0,
            short(pair.inputTokens),
            short(pair.outputTokens),
            money(pair.costUsd),
          ]),
        }}
      >
        <Bars
          label="Asks of each pair"
          bars={pairs.map((pair) => ({ name: nameOf(pair), value: pair.asks, words: counted(pair.asks, "ask") }))}
        />
      </Panel>
      {answered.length > 0 && (
        <Panel
          title="Response time"
          numbers={{
            head: ["Pair", "Answers", "Median", "p95", "Longest", "Median working time"],
            rows: answered.map((pair) => [
              nameOf(pair),
              pair.responseMs!.count,
              lasting(pair.responseMs!.medianMs),
              lasting(pair.responseMs!.p95Ms),
              lasting(pair.responseMs!.longestMs),
              pair.workMs ? lasting(pair.workMs.medianMs) : "–",
            ]),
          }}
        >
          <Bars
            label="Response time by pair"
            bars={answered.map((pair) => ({
              name: nameOf(pair),
              value: pair.responseMs!.p95Ms,
              inner: pair.responseMs!.medianMs,
              words: `median ${lasting(pair.responseMs!.medianMs)}, p95 ${lasting(pair.responseMs!.p95Ms)}`,
            }))}
          />
        </Panel>
      )}
    </>
  )
}
