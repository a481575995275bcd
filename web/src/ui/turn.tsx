import { tellingPart } from "../../../src/domain/tool-call.ts"
import type { ask } from "../api.ts"
import { mailOf } from "./mail.ts"
import { Markdown } from "./markdown.tsx"
import type { Step } from "./steps.ts"
import { Time } from "./time.tsx"

export type OutlineTurn = Awaited<ReturnType<typeof ask<"sessions.outline">>>["turns"][number]

const WHO = {
  prompt: "You",
  reply: "Agent",
  reasoning: "Thinking",
  tool_call: "Tool",
  tool_result: "Result",
  summary: "Summary",
  reset: "Reset",
} as const

interface Shown {
  step: Step
  textOf(turn: OutlineTurn): string
  isTarget: boolean
}

/** One turn. Tool calls are collapsed, so that the conversation stands out. */
export function Turn({ step: { turn, result }, textOf, isTarget }: Shown) {
  const { kind, toolName, superseded, at, isCut } = turn
  const text = textOf(turn)
  const mail = kind === "prompt" ? mailOf(text) : undefined
  const className = `turn turn-${kind}${isTarget ? " turn-target" : ""}${superseded ? " turn-gone" : ""}`
  if (kind === "reset") return <p class={className}>The conversation was cleared here.</p>
  if (kind === "prompt" || kind === "reply")
    return (
      <article class={className}>
        <header>
          <strong>{mail?.from ?? WHO[kind]}</strong>
          <Time at={at} />
        </header>
        {kind === "prompt" ? (
          <p class="said">{withoutCodes(mail?.words ?? text)}</p>
        ) : (
          <Markdown text={withoutCodes(text)} />
        )}
        {isCut && text === turn.head && <p class="muted">…</p>}
      </article>
    )
  const isError = turn.isError || result?.isError
  const title = kind === "tool_call" ? (toolName ?? WHO[kind]) : WHO[kind]
  return (
    <details class={className}>
      <summary>
        <span class={isError ? "fold-name bad" : "fold-name"}>{isError ? `${title} failed` : title}</span>
        <span class="fold-head">{firstLine(kind === "tool_call" ? tellingPart(turn.head) : turn.head)}</span>
        <Time at={at} />
      </summary>
      {kind === "summary" || kind === "reasoning" ? (
        <Markdown text={text} />
      ) : (
        <pre class="plain">{withoutCodes(kind === "tool_call" ? indented(text) : text)}</pre>
      )}
      {result && <pre class="plain result">{withoutCodes(textOf(result))}</pre>}
    </details>
  )
}

/** A call's arguments, one per line. */
function indented(call: string): string {
  try {
    const input: unknown = JSON.parse(call)
    if (typeof input !== "object" || input === null) return call
    return Object.entries(input)
      .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join("\n")
  } catch {
    return call
  }
}

const firstLine = (text: string) => withoutCodes(text).split("\n", 1)[0]!.slice(0, 160)
/** ANSI escape sequences. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out.
const CODES = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[@-_]?|[\x00-\x08\x0b-\x1f\x7f]/g
const withoutCodes = (text: string) => text.replace(CODES, "")
