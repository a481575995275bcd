import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { troubleOf } from "./ask.ts"
import { Questions } from "./questions.tsx"
import { Time } from "./time.tsx"
import { Trouble } from "./trouble.tsx"

type Permission = Awaited<ReturnType<typeof ask<"permissions.list">>>["permissions"][number]

/** Permission requests in full, with buttons to answer them. */
export function Permissions({ permissions }: { permissions: readonly Permission[] }) {
  return (
    <ul class="asks">
      {permissions.map((permission) => (
        <One key={permission.id} permission={permission} />
      ))}
    </ul>
  )
}

/** A pair is named `from → to`: the agent at work is the second, the first is who asked it. */
function whoAsks(asker: string): { agent: string; from?: string } {
  const [from = "", agent] = asker.split(" → ")
  return agent === undefined ? { agent: asker } : { agent, from }
}

/** Why an answer had no effect. */
function lateText({ state, answeredBy, reason }: Permission): string {
  if (state === "stale" && reason) return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`
  return `Already ${state}${answeredBy ? ` by ${answeredBy}` : ""}.`
}

function One({ permission }: { permission: Permission }) {
  const { id, asker, tool, title, input, suggestions, questions, askedAt } = permission
  const { agent, from } = whoAsks(asker)
  const isSent = useSignal(false)
  const trouble = useSignal<string | undefined>(undefined)
  const answer = async (choice: {
    answer: "allow" | "deny" | "always" | "answer"
    which?: number
    with?: string[]
  }) => {
    isSent.value = true
    try {
      const { accepted, permission: now } = await ask("permissions.answer", { id, ...choice })
      if (!accepted) trouble.value = lateText(now)
    } catch (error) {
      trouble.value = troubleOf(error)
      isSent.value = false
    }
  }
  return (
    <li class="ask" data-item>
      <p class="ask-top">
        <strong>{agent}</strong>{" "}
        {questions.length > 0 ? (
          "asks you"
        ) : (
          <>
            wants to use <code>{tool}</code>
          </>
        )}{" "}
        {from !== undefined && <span class="muted">(asked by {from})</span>} <Time at={askedAt} />
      </p>
      {title !== tool && <p>{title}</p>}
      {Object.entries(input).map(([name, value]) => (
        // Questions are shown below; their raw input stays collapsed.
        <details key={name} open={questions.length === 0}>
          <summary>{name}</summary>
          <pre class="plain">{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>
        </details>
      ))}
      {questions.length > 0 && (
        <Questions
          id={id}
          questions={questions}
          isSent={isSent.value}
          onAnswer={(words) => answer({ answer: "answer", with: words })}
        />
      )}
      <Trouble text={trouble.value} />
      <div class="actions">
        {questions.length === 0 && (
          <button
            type="button"
            class="button main-action"
            disabled={isSent.value}
            onClick={() => answer({ answer: "allow" })}
          >
            Allow
          </button>
        )}
        <button type="button" class="button danger" disabled={isSent.value} onClick={() => answer({ answer: "deny" })}>
          Deny
        </button>
        {suggestions.map((label, index) => (
          <button
            key={label}
            type="button"
            class="button"
            disabled={isSent.value}
            onClick={() => answer({ answer: "always", which: index + 1 })}
          >
            Always: {label}
          </button>
        ))}
      </div>
    </li>
  )
}
