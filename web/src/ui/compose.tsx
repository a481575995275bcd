import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { ask } from "../api.ts"
import { troubleOf, useAsk } from "./ask.ts"
import { Trouble } from "./trouble.tsx"

const WORDS: Record<string, string> = {
  queued: "queued",
  delivered: "delivered",
  seen: "seen",
  running: "in progress",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
  uncertain: "delivery unconfirmed",
}

/** Queues a message for the agent and shows its delivery state. */
export function Compose({ sessionId }: { sessionId: string }) {
  const text = useSignal("")
  const sent = useSignal<readonly string[]>([])
  const trouble = useSignal<string | undefined>(undefined)
  const sending = useRef<Promise<void>>(Promise.resolve())
  const send = () => {
    const draft = text.peek()
    if (draft.trim() === "") return
    // Cleared now, not on response: by then the next message may be in the field.
    text.value = ""
    sending.current = sending.current.then(() => deliver(draft))
  }
  const deliver = async (draft: string) => {
    const problem = await ask("send_message", { target: `session:${sessionId}`, message: draft.trim() }).then(
      ({ queued, id, reason }) => {
        if (!queued) return reason ?? "The message was refused"
        sent.value = [...sent.peek(), id!]
        return undefined
      },
      troubleOf,
    )
    trouble.value = problem
    if (problem !== undefined) text.value = [draft, text.peek()].filter((part) => part !== "").join("\n")
  }
  return (
    <form
      class="compose"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Trouble text={trouble.value} />
      <ul class="sent" aria-label="Sent messages">
        {sent.value.map((id) => (
          <Sent key={id} id={id} />
        ))}
      </ul>
      <div class="compose-line">
        <textarea
          aria-label="Message to the agent"
          placeholder="Message the agent (Ctrl+Enter to send)"
          rows={2}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send()
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
  const { value, trouble } = useAsk(() => ask("queue.show", { id }), {
    on: ({ kind, data }) => kind.startsWith("message.") && data.id === id,
  }).value
  if (!value)
    return trouble === undefined ? null : (
      <li>
        <Trouble text={trouble} />
      </li>
    )
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
