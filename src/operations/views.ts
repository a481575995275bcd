import * as z from "zod"
import type { Session } from "../domain/session.ts"
import type { Thought } from "../domain/thought.ts"

/** How sessions and thoughts look from outside. Absent means no or none, which keeps answers short. */
export const SessionView = z.object({
  id: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  thoughtCount: z.number(),
  branchCount: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  mcpRootUri: z.string().optional(),
  pinned: z.boolean(),
  archived: z.boolean(),
})
export type SessionView = z.output<typeof SessionView>

export const ThoughtView = z.object({
  thoughtNumber: z.number(),
  thought: z.string(),
  totalThoughts: z.number(),
  nextThoughtNeeded: z.boolean(),
  isRevision: z.boolean().optional(),
  revisesThought: z.number().optional(),
  branchFromThought: z.number().optional(),
  branchId: z.string().optional(),
  renumberedFrom: z.number().optional(),
  createdAt: z.string(),
})
export type ThoughtView = z.output<typeof ThoughtView>

export function viewSession(session: Session): SessionView {
  return {
    id: session.id,
    title: session.title,
    tags: session.tags,
    thoughtCount: session.thoughtCount,
    branchCount: session.branchCount,
    createdAt: iso(session.createdAtMs),
    updatedAt: iso(session.updatedAtMs),
    ...(session.rootUri === null ? {} : { mcpRootUri: session.rootUri }),
    pinned: session.pinnedAtMs !== null,
    archived: session.archivedAtMs !== null,
  }
}

export function viewThought(thought: Thought): ThoughtView {
  return {
    thoughtNumber: thought.number,
    thought: thought.text,
    totalThoughts: thought.totalThoughts,
    nextThoughtNeeded: thought.nextThoughtNeeded,
    ...(thought.isRevision ? { isRevision: true } : {}),
    ...(thought.revisesThought === null ? {} : { revisesThought: thought.revisesThought }),
    ...(thought.branchFromThought === null ? {} : { branchFromThought: thought.branchFromThought }),
    ...(thought.branchId === null ? {} : { branchId: thought.branchId }),
    ...(thought.renumberedFrom === null ? {} : { renumberedFrom: thought.renumberedFrom }),
    createdAt: iso(thought.createdAtMs),
  }
}

/** The main line and the branches apart, each by number. */
export function viewThoughts(thoughts: Thought[]): {
  thoughts: ThoughtView[]
  branches: Record<string, ThoughtView[]>
} {
  const sorted = thoughts.toSorted((a, b) => a.number - b.number)
  const branches = Map.groupBy(
    sorted.filter((thought) => thought.branchId !== null),
    (thought) => thought.branchId!,
  )
  return {
    thoughts: sorted.filter((thought) => thought.branchId === null).map(viewThought),
    branches: Object.fromEntries([...branches].map(([id, members]) => [id, members.map(viewThought)])),
  }
}

const iso = (ms: number) => new Date(ms).toISOString()
