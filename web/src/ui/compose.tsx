import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { troubleOf, useAsk } from "./ask.ts"
import { Trouble } from "./trouble.tsx"

const WORDS: Record<string, string> = {
  queued: "waits",
  delivered: "delivered",
  seen: "seen",
  running: "the agent is at it",
  done: "done",
  failed: "failed",
  cancelled: "taken back",
  expired: "expired",
  uncertain: "not known whether it arrived",
}

/** Says something to the agent, through the queue: kept before it is answered, and followed on the page. */
export function Compose({ sessionId }: { sessionId: string }) {
  const text = useSignal("")
  const sent = useSignal<readonly string[]>([])
  const trouble = useSignal<string | undefined>(undefined)
  const send = async () => {
    const message = text.peek().trim()
    if (message === "") return
    try {
      const { queued, id, reason } = await ask("send_message", { target: `session:${sessionId}`, message })
      if (!queued) {
        trouble.value = reason
        return
      }
      sent.value = [...sent.peek(), id!]
      text.value = ""
      trouble.value = undefined
    } catch (error) {
      trouble.value = troubleOf(error)
    }
  }
  return (
    <form
      class="compose"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Trouble text={trouble.value} />
      <ul class="sent" aria-label="Messages that you sent">
        {sent.value.map((id) => (
          <Sent key={id} id={id} />
        ))}
      </ul>
      <div class="compose-line">
        <textarea
          aria-label="Message to the agent"
          placeholder="Say something to the agent; Ctrl+Enter sends it"
          rows={2}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send()
          }}
        />
        <button type="submit" class="button main-action" disabled={text.value.trim() === ""}>
          Send
        </button>
      </div>
    </form>
  )
}

function Sent({ id }: { id: string }) {
  const { value } = useAsk(() => ask("queue.show", { id }), {
    on: ({ kind, data }) => kind.startsWith("message.") && data.id === id,
  }).value
  if (!value) return null
  return (
    <li data-state={value.state}>
      <span class="sent-text">{value.message}</span>
      <span class={`state state-${value.state}`}>
        {WORDS[value.state]}
        {value.reason ? `: ${value.reason}` : ""}
      </span>
    </li>
  )
}
