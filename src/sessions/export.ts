import { isUntrusted, UNTRUSTED_LABEL } from "../domain/origin.ts"
import type { Session, SessionEdge } from "../domain/session.ts"
import type { Thought } from "../domain/thought.ts"
import type { Turn, TurnKind } from "../domain/turn.ts"

export interface ExportedSession {
  session: Session
  linkedRoots: string[]
  thoughts: Thought[]
  turns: Turn[]
  edges: SessionEdge[]
}

/** The whole session as Markdown: turns, then thoughts, each branch right after the thought it leaves. */
export function toMarkdown({ session, linkedRoots, thoughts, turns }: ExportedSession): string {
  const main = thoughts.filter((thought) => thought.branchId === null).sort(byNumber)
  const branches = Map.groupBy(
    thoughts.filter((thought) => thought.branchId !== null),
    (thought) => thought.branchId!,
  )
  const lines = [
    `# ${session.title}`,
    "",
    `- Session: \`${session.id}\``,
    ...(isUntrusted(session) ? [`- **${UNTRUSTED_LABEL}**`] : []),
    ...(session.rootUri ? [`- Project: ${session.rootUri}`] : []),
    ...linkedRoots.map((uri) => `- Also: ${uri}`),
    ...(session.domain === null ? [] : [`- Domain: ${session.domain}`]),
    ...(session.tags.length > 0 ? [`- Tags: ${session.tags.join(", ")}`] : []),
    `- Started ${iso(session.createdAtMs)}, last touched ${iso(session.updatedAtMs)}`,
    `- ${turns.length > 0 ? `${turns.length} turns, ` : ""}${session.thoughtCount} thoughts, ${session.branchCount} branches`,
    ...turns.flatMap((turn) => ["", ...said(turn)]),
  ]
  const section = (branchId: string, members: Thought[]) => {
    lines.push("", `## Branch \`${branchId}\` (from thought ${members[0]!.branchFromThought})`)
    for (const thought of members.sort(byNumber)) lines.push("", ...rendered(thought, "###"))
  }
  for (const thought of main) {
    lines.push("", ...rendered(thought, "##"))
    for (const [branchId, members] of branches) {
      if (members[0]!.branchFromThought !== thought.number) continue
      section(branchId, members)
      branches.delete(branchId)
    }
  }
  for (const [branchId, members] of branches) section(branchId, members)
  return `${lines.join("\n")}\n`
}

const SAID: Record<TurnKind, string> = {
  prompt: "Prompt",
  reply: "Reply",
  reasoning: "Reasoning",
  tool_call: "Call of",
  tool_result: "Result of",
  summary: "Summary",
  reset: "Context reset",
}

function said({ kind, text, atMs, toolName, isError }: Turn): string[] {
  const isTool = kind === "tool_call" || kind === "tool_result"
  const head = `## ${SAID[kind]}${isTool ? ` \`${toolName ?? "a tool"}\`` : ""}${isError ? " (failed)" : ""}, ${iso(atMs)}`
  return text === "" ? [head] : [head, "", ...(isTool ? fenced(text) : [text])]
}

/** Uses a fence longer than any run of backticks in the text. */
function fenced(text: string): string[] {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = "`".repeat(longest + 1)
  return [fence, text, fence]
}

function rendered(thought: Thought, mark: string): string[] {
  const notes = [
    thought.isRevision && thought.revisesThought !== null ? `revises ${thought.revisesThought}` : undefined,
    thought.renumberedFrom === null ? undefined : `sent as ${thought.renumberedFrom}`,
  ].filter((note) => note !== undefined)
  return [`${mark} Thought ${thought.number}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`, "", thought.text]
}

const byNumber = (a: Thought, b: Thought) => a.number - b.number
const iso = (ms: number) => new Date(ms).toISOString()
