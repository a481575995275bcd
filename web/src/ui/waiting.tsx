import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { agentLabel } from "./agent.tsx"
import { troubleOf } from "./ask.ts"
import { Permissions } from "./permissions.tsx"
import { counted, Time } from "./time.tsx"
import { Trouble } from "./trouble.tsx"
import { type Waits, waits } from "./waits.ts"

type Message = Waits["messages"][number]

/** Approvals, undelivered messages and queues that need a person. */
export function Waiting() {
  const { value, trouble } = waits.value
  const { permissions = [], messages = [], held = [], atTerminal = [] } = value ?? {}
  return (
    <section class="section" aria-label="Needs your attention">
      <h2>Needs your attention</h2>
      <Trouble text={trouble} />
      {value && permissions.length + messages.length + held.length + atTerminal.length === 0 && (
        <p class="muted">Nothing needs you right now.</p>
      )}
      {permissions.length > 0 && <Permissions permissions={permissions} />}
      {atTerminal.length > 0 && (
        <ul class="rows">
          {atTerminal.map(({ sessionId, platform, title, waitsFor, attach }) => (
            <li key={sessionId} class="stuck">
              <span>
                <a href={`/sessions/${sessionId}`}>{title}</a> ({agentLabel(platform)}) needs an answer: {waitsFor}.
                Answer in its terminal
                {attach !== undefined && (
                  <>
                    : <code>{attach}</code>
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {messages.length > 0 && (
        <ul class="rows">
          {messages.map((message) => (
            <Stuck key={message.id} message={message} />
          ))}
        </ul>
      )}
      {held.length > 0 && (
        <ul class="rows">
          {held.map(({ target, pending, waitsFor }) => (
            <li key={target} class="stuck">
              <span>
                {counted(pending, "message")} queued for <TargetName target={target} />: {waitsFor}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const STATES: Record<string, string> = {
  uncertain: "Delivery unconfirmed",
  failed: "Not delivered",
  expired: "Expired before it could be delivered",
}

function Stuck({ message: { id, target, from, state, reason, message, changed_at, sent_at } }: { message: Message }) {
  const isSent = useSignal(false)
  const trouble = useSignal<string | undefined>(undefined)
  const settle = async (how: "again" | "leave") => {
    isSent.value = true
    try {
      const { settled, reason: why } = await ask("queue.settle", { id, how })
      trouble.value = settled ? undefined : why
    } catch (error) {
      trouble.value = troubleOf(error)
      isSent.value = false
    }
  }
  return (
    <li class="stuck" data-item data-state={state}>
      <span class="row-facts">
        <TargetName target={target} />
        <span>from {from}</span>
        <Time at={changed_at ?? sent_at} />
      </span>
      <span>
        {STATES[state] ?? state}
        {reason ? `: ${reason}` : ""}
      </span>
      <span class="stuck-text">{message}</span>
      <Trouble text={trouble.value} />
      <span class="actions">
        <button type="button" class="button" disabled={isSent.value} onClick={() => settle("again")}>
          Resend
        </button>
        <button type="button" class="button" disabled={isSent.value} onClick={() => settle("leave")}>
          Dismiss
        </button>
      </span>
    </li>
  )
}

function TargetName({ target }: { target: string }) {
  const session = /^session:(.+)$/.exec(target)?.[1]
  return session === undefined ? (
    <strong>{target}</strong>
  ) : (
    <a href={`/sessions/${session}`}>session {session.slice(0, 8)}</a>
  )
}
