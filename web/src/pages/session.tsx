import { useSignal } from "@preact/signals"
import { useCallback, useMemo } from "preact/hooks"
import { ask } from "../api.ts"
import { query } from "../router.ts"
import { Agent, projectName, Untrusted } from "../ui/agent.tsx"
import { useAsk } from "../ui/ask.ts"
import { Compose } from "../ui/compose.tsx"
import { Copy } from "../ui/copy.tsx"
import { Empty } from "../ui/empty.tsx"
import { Forget } from "../ui/forget.tsx"
import { Handoff } from "../ui/handoff.tsx"
import { Lineage } from "../ui/lineage.tsx"
import { type Step, stepsOf } from "../ui/steps.ts"
import { Thoughts } from "../ui/thoughts.tsx"
import { amount, Time } from "../ui/time.tsx"
import { Loading, Trouble } from "../ui/trouble.tsx"
import { type OutlineTurn, Turn } from "../ui/turn.tsx"
import { VirtualList } from "../ui/virtual-list.tsx"

const AT_ONCE = 100
const IN_PLACE = new Set(["turns.kept", "turns.superseded", "turns.dropped", "session.renamed", "thought.recorded"])

/** One conversation, live. */
export function Session({ id }: { id: string }) {
  const { value, trouble } = useAsk(() => ask("sessions.outline", { sessionId: id }), {
    again: [id],
    on: ({ kind, sessionId }) => sessionId === id && IN_PLACE.has(kind),
  }).value
  const texts = useTexts(id)
  const turns = value?.turns ?? NO_TURNS
  const steps = useMemo(() => stepsOf(turns), [turns])
  const place = query.value.get("at")
  const at = useMemo(
    () =>
      place === null ? undefined : steps.findIndex(({ turn, result }) => isAt(turn, place) || isAt(result, place)),
    [place, steps.length > 0],
  )

  if (!value) return trouble === undefined ? <Loading lines={8} /> : <Trouble text={trouble} />
  const { session, lineage, thoughts, branches } = value
  return (
    <>
      <header class="page-top">
        <h1>{session.title || "Untitled"}</h1>
        <div class="row-facts">
          <Agent platform={session.platform} />
          <Untrusted of={session} />
          <span title={session.projectPath}>{projectName(session.mcpRootUri ?? session.projectPath)}</span>
          {session.domain && <span title="Domain">{session.domain}</span>}
          {session.gitBranch && <span>{session.gitBranch}</span>}
          {session.model && <span>{session.model}</span>}
          <span>{amount(session)}</span>
          <Time at={session.updatedAt} />
        </div>
        <div class="actions">
          {session.resumeCommand && <Copy text={session.resumeCommand} label="Copy resume command" />}
          <Handoff sessionId={session.id} />
          <Forget sessionId={session.id} />
        </div>
        <Lineage lineage={lineage} title={session.title} />
        {session.untrusted && (
          <p class="notice-warn">
            This conversation comes from a file in the project’s folder, so the repository’s authors may have written
            it. To trust it: <code>throughline sources trust {session.projectPath}</code>
          </p>
        )}
      </header>
      <Trouble text={trouble} />
      {turns.length === 0 && thoughts.length === 0 && (
        <Empty title="This session is empty" hint="Messages will appear here." />
      )}
      <VirtualList
        label="Conversation"
        items={steps}
        keyOf={({ turn }) => turn.id}
        guessHeight={guess}
        at={at}
        isFollowing={place === null}
        onSeen={(seen) => texts.need(seen.flatMap(({ turn, result }) => (result ? [turn, result] : [turn])))}
        show={(step) => (
          <Turn step={step} textOf={texts.of} isTarget={isAt(step.turn, place) || isAt(step.result, place)} />
        )}
      />
      <Thoughts thoughts={thoughts} branches={branches} />
      {session.platform !== THOUGHTS && <Compose sessionId={session.id} />}
    </>
  )
}

/** Recorded thoughts only: no agent is there to receive a message. */
const THOUGHTS = "throughline"
const NO_TURNS: OutlineTurn[] = []
const isAt = (turn: OutlineTurn | undefined, place: string | null) => turn?.id === Number(place ?? Number.NaN)
const TOOL_PX = 44
const LINE_PX = 24
const LINE_CHARS = 90

/** Close enough that the list does not jump while it is measured. */
function guess({ turn: { kind, head, isCut } }: Step): number {
  if (kind === "tool_call" || kind === "tool_result" || kind === "reasoning") return TOOL_PX
  return 64 + LINE_PX * (isCut ? 8 : Math.ceil(head.length / LINE_CHARS))
}

/** Full texts of the visible turns; the outline only has the beginning of each. */
function useTexts(sessionId: string) {
  const known = useSignal<ReadonlyMap<number, string>>(new Map())
  const asked = useMemo(() => new Set<number>(), [sessionId])
  const need = useCallback(
    async (turns: readonly OutlineTurn[]) => {
      const missing = turns.filter(({ id, isCut }) => isCut && !asked.has(id)).map(({ id }) => id)
      for (let from = 0; from < missing.length; from += AT_ONCE) {
        const ids = missing.slice(from, from + AT_ONCE)
        for (const id of ids) asked.add(id)
        try {
          const answer = await ask("sessions.turns", { sessionId, ids })
          known.value = new Map([...known.peek(), ...answer.turns.map(({ id, text }) => [id, text] as const)])
        } catch {
          for (const id of ids) asked.delete(id)
        }
      }
    },
    [sessionId],
  )
  return { need, of: ({ id, head }: OutlineTurn) => known.value.get(id) ?? head }
}
