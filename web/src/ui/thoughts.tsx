import type { ask } from "../api.ts"
import { Markdown } from "./markdown.tsx"
import { counted } from "./time.tsx"

type Outline = Awaited<ReturnType<typeof ask<"sessions.outline">>>
type Thought = Outline["thoughts"][number]

/** Thoughts as a tree: each branch is nested below the thought it starts from. */
export function Thoughts({ thoughts, branches }: Pick<Outline, "thoughts" | "branches">) {
  if (thoughts.length === 0) return null
  const from = (number: number) => Object.entries(branches).filter(([, [first]]) => first?.branchFromThought === number)
  return (
    <section class="section" aria-label="Thoughts">
      <h2>Thoughts</h2>
      <ol class="thoughts">
        {thoughts.map((thought) => (
          <li key={thought.thoughtNumber}>
            <One thought={thought} />
            {from(thought.thoughtNumber).map(([name, members]) => (
              <details key={name} class="branch" open>
                <summary>
                  {name} <span class="muted">{counted(members.length, "thought")}</span>
                </summary>
                <ol>
                  {members.map((member) => (
                    <li key={member.thoughtNumber}>
                      <One thought={member} />
                    </li>
                  ))}
                </ol>
              </details>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}

function One({ thought: { thoughtNumber, thought, revisesThought } }: { thought: Thought }) {
  return (
    <>
      <span class="thought-number">{thoughtNumber}</span>
      {revisesThought !== undefined && <span class="muted">revises {revisesThought}</span>}
      <Markdown text={thought} />
    </>
  )
}
