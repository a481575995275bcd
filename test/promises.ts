/** What the README promises. Each is proved by at least one test that names it; promises.test.ts looks. */
export const promises = {
  "recovery.by-root": "A fresh agent finds the newest session of its project by the project's root, with no id at all.",
  "recovery.every-way":
    "Symlinks, subfolders, worktrees, trailing slashes and file:// URIs all lead to the same project.",
  "recovery.survives-kill": "What was acknowledged is there after the daemon was killed.",
  "recovery.explicit-id": "A session's id always works: from another project, and out of the archive.",
  "recovery.pinned": "A pinned session is the one that its project recovers.",
  "recovery.candidates": "Sessions active within ten minutes of the newest are named beside it.",
  "recovery.whole": "A session of any length comes back whole, page by page, branches included.",
  "thought.never-overwritten": "A number that is taken is never overwritten: the thought gets the next free one.",
  "thought.colliding-writers": "Agents that write to one session at the same moment each keep their thought.",
  "thought.once-per-key": "A call repeated under the same key is done once.",
  "sessions.archived-by-age": "A session left alone long enough archives itself, and a thought brings it back.",
  "sessions.exported": "A whole session, every branch included, can be taken away as markdown or JSON.",
  "capture.complete": "The conversations of the agents on this machine are kept complete, in order and once.",
  "capture.stays": "What an agent deletes, rewinds or rewrites stays.",
  "capture.neighbour": "Not a byte changes in an agent's own folder.",
  "capture.redacted": "Secrets are taken out before anything is stored.",
  "capture.excluded": "Nothing is kept of a folder that is excluded.",
  "capture.pushed": "Agents whose files cannot be read can bring their conversations themselves.",
  "forget.for-good": "What is forgotten is gone from every file, and does not come back.",
  "search.by-words": "What was said in any session of any agent is found again by its words.",
  "search.rebuilt": "An index that is lost or damaged is made anew by itself; searches answer meanwhile and say so.",
  "resume.within-budget": "A brief is never longer than the tokens that were asked for.",
  "resume.at-start": "A session that begins is told where its project stood, as far as the settings allow.",
  "queue.exactly-once":
    "A message for an agent arrives once, in order and at the right one, however often the daemon is killed over it.",
  "task.survives":
    "A session that was cut off in the middle of a task is followed by one that knows the task, the step and what waits.",
  "teams.hot": "A change of the teams in the configuration counts at once, and a broken one changes nobody.",
  "teams.kept":
    "A team's session that is kept up is started again when it dies, and whenever the daemon was restarted.",
  "teams.ask":
    "Teams ask each other: each pair has a session of its own that remembers, and every question gets its own answer.",
  "permissions.person":
    "What an agent asks to be allowed waits for a person, who sees all of it; nobody's silence allows it.",
  "telegram.topic":
    "A session is one topic in Telegram: what is said at the desk, what the agent does and what it says, in order.",
  "telegram.exactly-once":
    "What is written in a session's topic reaches that agent once, and nothing is lost or doubled when the daemon is killed over it.",
  "telegram.approvals":
    "What an agent asks to be allowed is answered by a tap, by nobody who is not on the list, and never by a daemon that died.",
  "telegram.resume": "A session that ended keeps what is written to it, and goes on with it by a tap on Resume.",
  "daemon.one-per-home": "However many agents start at once, one daemon serves a data directory.",
  "mcp.both-eras": "MCP clients of the 2025 and the 2026 era are served alike.",
  "http.token-needed": "Over HTTP nobody is served without the token, nor from another site's page.",
  "store.damaged-file-kept-aside": "A damaged database is kept aside, never deleted, and a new one begins.",
  "bad-input.named": "An error about wrong input names the parameter and the value.",
  "config.named": "An error about a setting names its key, its value and where it came from, and never shows a secret.",
} as const

/** The promise's sentence, for the name of the test that proves it. */
export function proves(id: keyof typeof promises): string {
  return promises[id]
}
