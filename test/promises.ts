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
  "sessions.archived-by-age": "A session that is unused for long enough is archived, and a thought restores it.",
  "sessions.exported": "A whole session, every branch included, can be exported as Markdown or JSON.",
  "capture.complete": "The conversations of the agents on this machine are stored completely, in order and once.",
  "capture.stays": "What an agent deletes, rewinds or rewrites stays.",
  "capture.neighbour": "Not a byte changes in an agent's own folder.",
  "capture.redacted": "Secrets are redacted before anything is stored.",
  "capture.excluded": "Nothing of an excluded folder is stored.",
  "capture.pushed": "Agents whose files cannot be read can log their conversations.",
  "forget.for-good": "What is forgotten is gone from every file, and does not come back.",
  "search.by-words": "Any session of any agent is found by its words.",
  "search.rebuilt": "A lost or damaged index is rebuilt automatically; meanwhile searches answer and say so.",
  "resume.within-budget": "A brief never exceeds the requested tokens.",
  "resume.at-start": "A new session gets its project's state, as far as the settings allow.",
  "queue.exactly-once": "A message reaches the right agent once and in order, however often the daemon is killed.",
  "task.survives":
    "A session that was interrupted in a task is followed by one that knows the task, the step and the pending messages.",
  "teams.hot": "A change of the configured teams applies immediately, and an invalid one changes no team.",
  "teams.kept": "A team's supervised session is restarted when it dies, and whenever the daemon was restarted.",
  "teams.ask":
    "Teams ask each other: each pair has its own session with a memory, and every question gets its own answer.",
  "permissions.person": "A permission request waits for a person, who sees it in full; silence never allows it.",
  "telegram.topic": "A session is one topic in Telegram: prompts, tool calls and replies, in order.",
  "telegram.exactly-once":
    "A message in a session's topic reaches its agent once, and nothing is lost or duplicated when the daemon is killed.",
  "telegram.approvals":
    "A permission request is answered by a button, only by listed people, and never by a daemon that died.",
  "telegram.resume": "An ended session queues its messages, and Resume continues it with them.",
  "daemon.one-per-home": "However many agents start at once, one daemon serves a data directory.",
  "mcp.both-eras": "MCP clients of the 2025 and 2026 protocol versions get the same service.",
  "http.token-needed": "HTTP requests without the token, or from another site's page, are refused.",
  "store.damaged-file-kept-aside": "A damaged database is moved aside, never deleted, and a new one is created.",
  "bad-input.named": "An error about wrong input names the parameter and the value.",
  "config.named": "An error about a setting names its key, its value and where it came from, and never shows a secret.",
} as const

/** The promise's sentence, for the name of the test that proves it. */
export function proves(id: keyof typeof promises): string {
  return promises[id]
}
