import * as z from "zod"
import { operation } from "./operation.ts"
import { projectName } from "./text.ts"

const Hit = z.object({
  sessionId: z.string(),
  title: z.string(),
  mcpRootUri: z.string().optional(),
  thoughtNumber: z.number(),
  branchId: z.string().optional(),
  createdAt: z.string(),
  score: z.number(),
  snippet: z.string(),
})

export const search = operation({
  name: "search",
  summary: "Find thoughts by the words in them",
  effect: "read",
  on: ["cli", "http"],
  positional: ["query"],
  input: z.strictObject({
    query: z.string().min(1).max(1000).describe('Words that must all occur; "quotes" keep words together'),
    root: z.string().min(1).optional().describe("Only this project (folder or file:// URI)"),
    sessionId: z.string().min(1).optional().describe("Only this session"),
    limit: z.int().min(1).max(100).default(10).describe("How many at the most"),
  }),
  output: z.object({ query: z.string(), hits: z.array(Hit) }),
  text: ({ query, hits }) =>
    hits.length === 0
      ? `Nothing found for ${JSON.stringify(query)}.`
      : hits
          .map((hit) => {
            const place =
              hit.branchId === undefined
                ? `thought ${hit.thoughtNumber}`
                : `branch ${hit.branchId}, thought ${hit.thoughtNumber}`
            return `${hit.sessionId.slice(0, 8)}  ${hit.createdAt.slice(0, 10)}  ${projectName(hit.mcpRootUri)}  ${hit.title} (${place})\n    ${hit.snippet}`
          })
          .join("\n"),
  async run({ sessions, recall }, { query, root, sessionId, limit }) {
    const found = root === undefined ? undefined : await sessions.projects.find(root)
    if (found && !found.project) return { query, hits: [] }
    const session = sessionId === undefined ? undefined : await sessions.recovery.get(sessionId)
    const hits = await recall.thoughts({ query, limit, projectId: found?.project?.id, sessionId: session?.id })
    return {
      query,
      hits: hits.map(({ thought, session, score, snippet }) => ({
        sessionId: session.id,
        title: session.title,
        ...(session.rootUri === null ? {} : { mcpRootUri: session.rootUri }),
        thoughtNumber: thought.number,
        ...(thought.branchId === null ? {} : { branchId: thought.branchId }),
        createdAt: new Date(thought.createdAtMs).toISOString(),
        score,
        snippet,
      })),
    }
  },
})
