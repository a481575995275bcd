import type { Caller } from "../domain/caller.ts"
import type { ProjectFinder } from "../domain/project.ts"
import type { Recovered } from "../sessions/recovery.ts"
import { visible } from "./columns.ts"
import type { Out } from "./init.ts"
import { ago, clip, counted, sessionLine, thoughtLines } from "./text.ts"

/** How the caller's project was determined. */
export const rootSource = {
  argument: "as given",
  bound: "bound",
  environment: "from the environment",
  client: "named by the client",
  folder: "the process's folder",
}
const howFound = {
  id: "Loaded session",
  pinned: "Recovered pinned session",
  own: "Your session",
  ownWithoutRoot: "Your session",
  newest: "Auto-recovered session",
}

/** For a client without a project: why, and what to do. */
export function noRoot(projects: Pick<ProjectFinder, "uncounted">, caller: Caller): string {
  const folder = projects.uncounted(caller)
  const why =
    folder === undefined
      ? "No project root is known for this client."
      : `Warning: this client named no root and was started in ${folder}, which is not a project.`
  return `${why} Call init bind_root with mcpRootUri set to the project's folder. Until then a session is found again by its id, or by the client that began it.`
}

/** Describes the recovered session: how it was found, size, age and warnings. */
export function recovered(
  { session, by, page, untouchedMs, isOthers, otherRoot, rivals }: Recovered,
  adviceWithoutRoot: string,
): string {
  const parts = [
    `${howFound[by]} ${session.id} "${session.title}" (${counted(page.total, "thought")}, last updated ${ago(untouchedMs)}).`,
    page.thoughts.length === page.total ? "" : `${counted(page.thoughts.length, "thought")} on this page.`,
    isOthers
      ? "Another agent is working in it: your next thought starts a session of your own unless you pass this sessionId."
      : "",
    otherRoot ? `It belongs to another project: ${session.rootUri ?? "none"}.` : "",
    session.archivedAtMs === null ? "" : "It is archived; the next thought restores it.",
    page.olderCursor === null ? "" : `Older thoughts: load_context with cursor "${page.olderCursor}".`,
    rivals.length === 0
      ? ""
      : `Active within 10 minutes of the newest: ${counted(rivals.length, "other session")} of this project, see candidates.`,
    by === "ownWithoutRoot" ? adviceWithoutRoot : "",
  ]
  return parts.filter((part) => part !== "").join(" ")
}

/** Root names are untrusted: show one short line. */
export function shownName(name: string | undefined): string | undefined {
  const line = clip(visible(name ?? ""), MOST_NAME_CHARS)
  return line === "" ? undefined : line
}

const MOST_NAME_CHARS = 100

/** For agents without structured content, so it includes the thoughts themselves. */
export function describe(out: Out): string {
  const lines = [out.message]
  if (out.sessions) lines.push(...out.sessions.map(sessionLine))
  if (out.candidates) lines.push("Candidates:", ...out.candidates.map(sessionLine))
  if (out.thoughts && out.thoughts.length > 0) lines.push("", ...thoughtLines(out.thoughts))
  for (const [id, thoughts] of Object.entries(out.branches ?? {})) {
    lines.push("", `Branch ${id} (from thought ${thoughts[0]?.branchFromThought}):`, ...thoughtLines(thoughts))
  }
  return lines.join("\n")
}
