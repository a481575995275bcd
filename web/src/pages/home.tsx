import { ask } from "../api.ts"
import { Agent, projectName } from "../ui/agent.tsx"
import { useAsk } from "../ui/ask.ts"
import { Empty } from "../ui/empty.tsx"
import { Permissions } from "../ui/permissions.tsx"
import { Time } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"

/** What runs on this machine now, and what waits for a person. */
export function Home() {
  return (
    <>
      <h1>Now</h1>
      <Waiting />
      <Live />
      <Recent />
    </>
  )
}

const isAboutSessions = ({ kind }: { kind: string }) =>
  kind === "hook.received" || kind === "turns.kept" || kind.startsWith("session.") || kind.startsWith("team.")

type LiveSession = Awaited<ReturnType<typeof ask<"sessions.live">>>["sessions"][number]

function Live() {
  const { value, trouble } = useAsk(() => ask("sessions.live", {}), { on: isAboutSessions, everyMs: 5_000 }).value
  return (
    <section class="section" aria-label="Sessions that run now">
      <h2>Running</h2>
      <Trouble text={trouble} />
      {!value ? (
        <Loading />
      ) : value.sessions.length === 0 ? (
        <Empty
          title="No agent is running"
          hint={
            <>
              Start one in any folder and it appears here. <code>throughline setup</code> lets agents say when they
              start.
            </>
          }
        />
      ) : (
        <ul class="cards">
          {value.sessions.map((one) => (
            <LiveCard key={one.session.id} one={one} />
          ))}
        </ul>
      )}
    </section>
  )
}

function LiveCard({ one: { session, status, waitingFor, pane, last, since } }: { one: LiveSession }) {
  return (
    <li class="card" data-item data-status={status}>
      <div class="card-top">
        <Agent platform={session.platform} />
        <span class={`state state-${status}`}>
          {status === "waiting" ? `waits for you${waitingFor ? `: ${waitingFor}` : ""}` : status}
          {since && (
            <>
              {" · "}
              <Time at={since} />
            </>
          )}
        </span>
      </div>
      <a class="card-title" href={`/sessions/${session.id}`}>
        {session.title || "Untitled"}
      </a>
      {last && (
        <p class="words">
          <span class="muted">{last.role === "user" ? "You: " : ""}</span>
          {last.text}
        </p>
      )}
      <p class="card-end">
        <span>{projectName(session.mcpRootUri ?? session.projectPath)}</span>
        <span>{pane ? `tmux ${pane}` : "not in tmux"}</span>
      </p>
    </li>
  )
}

function Waiting() {
  const permissions = useAsk(() => ask("permissions.list", {}), {
    on: ({ kind }) => kind.startsWith("permission."),
    everyMs: 10_000,
  }).value
  const queue = useAsk(() => ask("queue_status", {}), { on: ({ kind }) => kind.startsWith("message.") }).value
  const stuck = queue.value?.targets.filter(({ waits_for }) => waits_for !== undefined) ?? []
  const waiting = permissions.value?.permissions ?? []
  if (waiting.length === 0 && stuck.length === 0) return null
  return (
    <section class="section" aria-label="What waits for you">
      <h2>Waits for you</h2>
      <Permissions permissions={waiting} />
      {stuck.length > 0 && (
        <ul class="rows">
          {stuck.map(({ target, pending, waits_for }) => (
            <li key={target}>
              <strong>{target}</strong> {pending === 1 ? "1 message waits" : `${pending} messages wait`}: {waits_for}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Recent() {
  const { value, trouble } = useAsk(() => ask("sessions.list", { limit: 12 }), {
    on: ({ kind }) => kind.startsWith("session."),
    everyMs: 30_000,
  }).value
  return (
    <section class="section" aria-label="Recent sessions">
      <h2>Recent</h2>
      <Trouble text={trouble} />
      {!value ? (
        <Loading lines={6} />
      ) : value.sessions.length === 0 ? (
        <Empty
          title="Nothing is kept yet"
          hint="Conversations of the agents on this machine appear by themselves. Health shows what is looked at."
        />
      ) : (
        <ul class="rows">
          {value.sessions.map((session) => (
            <li key={session.id} data-item>
              <a class="row-link" href={`/sessions/${session.id}`}>
                <span class="row-title">{session.title || "Untitled"}</span>
                <span class="row-facts">
                  <Agent platform={session.platform} />
                  <span>{projectName(session.mcpRootUri ?? session.projectPath)}</span>
                  <span>{session.promptCount} prompts</span>
                  <Time at={session.updatedAt} />
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
