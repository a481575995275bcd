import type { ask } from "../api.ts"
import { Agent, projectName, Untrusted } from "./agent.tsx"
import type { Asked } from "./ask.ts"
import { Empty } from "./empty.tsx"
import { mailOf } from "./mail.ts"
import { Time } from "./time.tsx"
import { Trouble } from "./trouble.tsx"

type LiveSession = Awaited<ReturnType<typeof ask<"sessions.live">>>["sessions"][number]

export function Live({ value, trouble }: Asked<{ sessions: readonly LiveSession[] }>) {
  return (
    <section class="section" aria-label="Running sessions">
      <h2>Running</h2>
      <Trouble text={trouble} />
      {value?.sessions.length === 0 ? (
        <Empty
          title="No agent is running"
          hint={
            <>
              Start one in any folder and it appears here. Run <code>throughline setup</code> so agents report when they
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
    wakes && "wakes on message",
    topic && `Telegram: ${topic}`,
    unattended && teams[0] && `ask ${teams[0]}`,
  ].filter(Boolean)
  return (
    <li class="card" data-item data-status={status}>
      <div class="card-top">
        <Agent platform={session.platform} />
        <Untrusted of={session} />
        <span class={`state state-${status}`}>
          {status === "waiting" ? `needs you${waitingFor ? `: ${waitingFor}` : ""}` : status}
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
          <span class="sr-only">Last message: </span>
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
          <span class="sr-only">Reachable through: </span>
          {ways.length > 0 ? ways.join(" · ") : "not reachable"}
        </span>
      </p>
    </li>
  )
}
