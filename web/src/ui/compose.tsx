import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
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
  const sending = useRef<Promise<void>>(Promise.resolve())
  const send = () => {
    const draft = text.peek()
    if (draft.trim() === "") return
    // Emptied now, not when the answer comes: by then the next message may be in the box.
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
