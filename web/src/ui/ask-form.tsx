import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { troubleOf } from "./ask.ts"
import { Markdown } from "./markdown.tsx"
import { Trouble } from "./trouble.tsx"

/** Long-poll time of one call; repeated until the answer is there. */
const WAIT_MS = 20_000
const OVER = new Set(["done", "failed", "cancelled", "expired", "uncertain"])

type Asked = Awaited<ReturnType<typeof ask<"teams_ask">>>

/** A question to a team, and its answer. */
export function AskForm({ teams }: { teams: readonly string[] }) {
  const team = useSignal(teams[0] ?? "")
  const question = useSignal("")
  const asked = useSignal<Asked | undefined>(undefined)
  const isAsking = useSignal(false)
  const trouble = useSignal<string | undefined>(undefined)

  const send = async () => {
    isAsking.value = true
    trouble.value = undefined
    try {
      let state = await ask("teams_ask", { team: team.peek(), question: question.peek(), timeout: WAIT_MS })
      asked.value = state
      while (!OVER.has(state.status)) {
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        const { message } = await ask("teams_status", { messageId: state.messageId })
        if (!message) break
        state = message
        asked.value = state
      }
      if (state.status === "done") question.value = ""
    } catch (error) {
      trouble.value = troubleOf(error)
    }
    isAsking.value = false
  }
  return (
    <section class="section" aria-label="Ask a team">
      <h2>Ask a team</h2>
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <select aria-label="Team" value={team.value} onChange={(event) => (team.value = event.currentTarget.value)}>
          {teams.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <textarea
          aria-label="Question"
          rows={2}
          placeholder="What do you want to know?"
          value={question.value}
          onInput={(event) => (question.value = event.currentTarget.value)}
        />
        <button type="submit" class="button main-action" disabled={isAsking.value || question.value.trim() === ""}>
          {isAsking.value ? "Asking…" : "Ask"}
        </button>
      </form>
      <Trouble text={trouble.value} />
      {asked.value && (
        <article class="turn turn-reply" aria-live="polite">
          <header>
            <strong>{asked.value.to}</strong>
            <span class={`state state-${asked.value.status}`}>{asked.value.status}</span>
          </header>
          {asked.value.answer !== undefined && <Markdown text={asked.value.answer} />}
          {asked.value.reason !== undefined && <p class="muted">{asked.value.reason}</p>}
        </article>
      )}
    </section>
  )
}
