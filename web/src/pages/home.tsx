import { ask } from "../api.ts"
import { Agent, projectName, Untrusted } from "../ui/agent.tsx"
import { type Asked, useAsk } from "../ui/ask.ts"
import { Empty } from "../ui/empty.tsx"
import { Live } from "../ui/live.tsx"
import { Restarts, useRestarts } from "../ui/restarts.tsx"
import { amount, Time } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"
import { Waiting } from "../ui/waiting.tsx"
import { waits } from "../ui/waits.ts"

/** Fetched; those that run now are shown above and left out of the list. */
const RECENT = 16

/** Running sessions, and everything that needs a person. */
export function Home() {
  const live = useAsk(() => ask("sessions.live", {}), { on: isAboutSessions, everyMs: 5_000 }).value
  const recent = useAsk(() => ask("sessions.list", { limit: RECENT }), {
    on: ({ kind }) => kind.startsWith("session."),
    everyMs: 30_000,
  }).value
  const restarts = useRestarts()
  // Rendered together: a late section would shift the text that somebody is already reading.
  const isReady = [live, recent, waits.value, restarts].every(({ value, trouble }) => value ?? trouble)
  return (
    <>
      <h1>Home</h1>
      {isReady ? (
        <div class="home">
          <div class="home-side">
            <Waiting />
            <Restarts {...restarts} />
          </div>
          <div class="home-main">
            <Live {...live} />
            <Recent {...recent} running={live.value?.sessions.map(({ session }) => session.id) ?? []} />
          </div>
        </div>
      ) : (
        <Loading lines={8} />
      )}
    </>
  )
}

const isAboutSessions = ({ kind }: { kind: string }) =>
  kind === "hook.received" || kind === "turns.kept" || kind.startsWith("session.") || kind.startsWith("team.")

type SessionList = Awaited<ReturnType<typeof ask<"sessions.list">>>

function Recent({ value, trouble, running }: Asked<SessionList> & { running: readonly string[] }) {
  const others = value?.sessions.filter(({ id }) => !running.includes(id))
  return (
    <section class="section" aria-label="Recent sessions">
      <h2>Recent</h2>
      <Trouble text={trouble} />
      {value?.sessions.length === 0 ? (
        <Empty
          title="No sessions yet"
          hint="Conversations are imported automatically; see Health for the agents being watched."
        />
      ) : (
        <ul class="rows">
          {others?.map((session) => (
            <li key={session.id} data-item>
              <a class="row-link" href={`/sessions/${session.id}`}>
                <span class="row-title">{session.title || "Untitled"}</span>
                <span class="row-facts">
                  <Agent platform={session.platform} />
                  <Untrusted of={session} />
                  <span>{projectName(session.mcpRootUri ?? session.projectPath)}</span>
                  <span>{amount(session)}</span>
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
