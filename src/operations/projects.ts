import * as z from "zod"
import type { SessionTally } from "../domain/session.ts"
import { isoTime } from "../lib/time.ts"
import { ANYONE_READS, operation } from "./operation.ts"
import { clip, minute, projectName, table } from "./text.ts"

const ProjectView = z.object({
  /** Its root; absent for sessions outside any project. */
  project: z.string().optional(),
  sessions: z.number(),
  updatedAt: z.string(),
  agents: z.array(z.object({ platform: z.string(), sessions: z.number() })),
  branches: z.array(z.object({ branch: z.string(), sessions: z.number(), updatedAt: z.string() })),
})

export const projectsList = operation({
  name: "projects.list",
  summary: "List projects, newest first, with their agents and git branches",
  ...ANYONE_READS,
  command: "projects",
  input: z.strictObject({}),
  output: z.object({ projects: z.array(ProjectView) }),
  text: ({ projects }) =>
    projects.length === 0
      ? "No sessions yet. Conversations are imported automatically."
      : table(
          ["PROJECT", "SESSIONS", "UPDATED", "AGENTS", "BRANCHES", "ROOT"],
          projects.map(({ project, sessions, updatedAt, agents, branches }) => [
            projectName(project),
            String(sessions),
            minute(updatedAt),
            agents.map(({ platform }) => platform).join(", "),
            clip(branches.map(({ branch }) => branch).join(", "), 40) || "-",
            project ?? "-",
          ]),
        ),
  run: async ({ sessions }) => ({
    projects: newestFirst(Map.groupBy(await sessions.tally(), ({ rootUri }) => rootUri)).map(
      ({ key, sessions, updatedAt, of }) => ({
        project: key ?? undefined,
        sessions,
        updatedAt,
        agents: newestFirst(Map.groupBy(of, ({ platform }) => platform)).map((one) => ({ ...one, platform: one.key })),
        branches: newestFirst(Map.groupBy(of, ({ gitBranch }) => gitBranch)).flatMap(
          ({ key: branch, sessions, updatedAt }) => (branch ? [{ branch, sessions, updatedAt }] : []),
        ),
      }),
    ),
  }),
})

function newestFirst<Key>(groups: Map<Key, SessionTally[]>) {
  return [...groups]
    .map(([key, of]) => ({
      key,
      of,
      sessions: of.reduce((sum, { sessions }) => sum + sessions, 0),
      updatedAt: isoTime(Math.max(...of.map(({ lastAtMs }) => lastAtMs))),
    }))
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
}
