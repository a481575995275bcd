import { ask } from "../api.ts"
import { Agent, projectName, Untrusted } from "../ui/agent.tsx"
import { type Asked, useAsk } from "../ui/ask.ts"
import { Empty } from "../ui/empty.tsx"
import { mailOf } from "../ui/mail.ts"
import { Restarts, useRestarts } from "../ui/restarts.tsx"
import { amount, Time } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"
import { Waiting } from "../ui/waiting.tsx"
import { waits } from "../ui/waits.ts"

/** Of these, those that run now are shown above. */
const RECENT = 16

/** What runs on this machine now, and what waits for a person. */
export function Home() {
  const live = useAsk(() => ask("sessions.live", {}), { on: isAboutSessions, everyMs: 5_000 }).value
  const recent = useAsk(() => ask("sessions.list", { limit: RECENT }), {
    on: ({ kind }) => kind.startsWith("session."),
    everyMs: 30_000,
  }).value
  const restarts = useRestarts()
  // Shown together: what comes a moment later would push away what somebody reads already.
  const isReady = [live, recent, waits.value, restarts].every(({ value, trouble }) => value ?? trouble)
  return (
    <>
      <h1>Now</h1>
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

type LiveSession = Awaited<ReturnType<typeof ask<"sessions.live">>>["sessions"][number]

function Live({ value, trouble }: Asked<{ sessions: readonly LiveSession[] }>) {
  return (
    <section class="section" aria-label="Sessions that run now">
      <h2>Running</h2>
      <Trouble text={trouble} />
      {value?.sessions.length === 0 ? (
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
          {value?.sessions.map((one) => (
            <LiveCard key={one.session.id} one={one} />
          ))}
        </ul>
      )}
    </section>
  )
}

function LiveCard({
  one: { session, status, waitingFor, pane, direct, wakes, topic, unattended, teams, last, since },
}: {
  one: LiveSession
}) {
  const mail = last?.role === "user" ? mailOf(last.text) : undefined
  const ways = [
    pane && `tmux ${pane}`,
    direct && "direct",
    wakes && "wakes for mail",
    topic && `Telegram: ${topic}`,
    unattended && teams[0] && `ask ${teams[0]}`,
  ].filter(Boolean)
  return (
    <li class="card" data-item data-status={status}>
      <div class="card-top">
        <Agent platform={session.platform} />
        <Untrusted of={session} />
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
          <span class="sr-only">Last words: </span>
          {last.role === "user" && <strong>{mail?.from ?? "You"}: </strong>}
          {mail?.words ?? last.text}
        </p>
      )}
      <p class="card-end">
        <span>
          <span class="sr-only">Project: </span>
          {projectName(session.mcpRootUri ?? session.projectPath)}
        </span>
        <span>
          <span class="sr-only">Reached by: </span>
          {ways.length > 0 ? ways.join(" · ") : "cannot be reached"}
        </span>
      </p>
    </li>
  )
}

type Kept = Awaited<ReturnType<typeof ask<"sessions.list">>>

function Recent({ value, trouble, running }: Asked<Kept> & { running: readonly string[] }) {
  const others = value?.sessions.filter(({ id }) => !running.includes(id))
  return (
    <section class="section" aria-label="Recent sessions">
      <h2>Recent</h2>
      <Trouble text={trouble} />
      {value?.sessions.length === 0 ? (
        <Empty
          title="Nothing is kept yet"
          hint="Conversations of the agents on this machine appear by themselves. Health shows what is looked at."
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
