import type { JournalEntry } from "../../domain/journal.ts"
import { searchableText } from "../../domain/metadata.ts"
import type { Store } from "../../domain/store.ts"
import type { Thought } from "../../domain/thought.ts"
import type { Turn } from "../../domain/turn.ts"
import { nextTurn } from "../../lib/clock.ts"
import { exchangeFinder } from "../query/exchange-finder.ts"
import { refOfThought, refOfTurn } from "../query/refs.ts"
import type { ListedExchange } from "../vectors/embedding.ts"
import { weigh } from "../words/document.ts"
import type { Engine, NewDoc } from "./engine.ts"

/** Consumes the journal from the position stored in the index, so that the two cannot disagree. */
export interface Indexer {
  /** Indexes the next entries; false when there are none. */
  advance(): Promise<boolean>
  /** The journal number up to which everything can be found. */
  position(): number
}

const ENTRIES_AT_ONCE = 100
const TURNS_AT_ONCE = 200
/** Turns indexed before searches get a turn. */
const TURNS_IN_A_ROW = 4

export function makeIndexer({
  store,
  engine,
  onTouched,
  onChanged,
  onForgotten,
}: {
  store: Store
  engine: Engine
  /** Sessions named in the journal, before their changes can be found. */
  onTouched(sessionIds: Set<string>): void
  /** Exchanges that are new or grew. */
  onChanged(exchanges: ListedExchange[]): void
  /** Something was deleted permanently; the journal does not say what. */
  onForgotten(): Promise<void>
}): Indexer {
  let { position } = engine.facts()
  const exchanges = exchangeFinder(store)

  const refresh = async (seqs: number[]): Promise<void> => {
    const turns = await store.turns.bySeqs(seqs)
    const found = new Set(turns.map(({ seq }) => seq))
    engine.remove(seqs.filter((seq) => !found.has(seq)).map(refOfTurn))
    for (let at = 0; at < turns.length; at += TURNS_IN_A_ROW) {
      const docs: NewDoc[] = []
      for (const turn of turns.slice(at, at + TURNS_IN_A_ROW))
        if (turn.text !== "" && !isEcho(turn)) docs.push(docOfTurn(turn, await exchanges.of(turn)))
      engine.add(docs, position)
      onChanged(changedExchanges(docs))
      await nextTurn()
    }
    engine.hide(turns.filter(({ supersededAtMs }) => supersededAtMs !== null).map(({ seq }) => refOfTurn(seq)))
  }

  const take = async (entries: JournalEntry[], last: number): Promise<void> => {
    onTouched(new Set(entries.flatMap(({ sessionId }) => sessionId ?? [])))
    const turnSeqs = seqsOf(entries, (entry) => TURN_ENTRIES.has(entry.kind))
    const thoughtSeqs = entries.filter(({ kind }) => kind === "thought.recorded").map(({ data }) => Number(data.seq))
    for (let at = 0; at < turnSeqs.length; at += TURNS_AT_ONCE) await refresh(turnSeqs.slice(at, at + TURNS_AT_ONCE))
    // Before the position moves: callers of `reached` and a restart rely on it.
    if (entries.some(({ kind }) => kind === "turns.forgotten")) await onForgotten()
    const thoughts = thoughtSeqs.length === 0 ? [] : await store.thoughts.bySeqs(thoughtSeqs)
    engine.add(thoughts.map(docOfThought), last)
    position = last
  }

  return {
    position: () => position,
    async advance() {
      const entries = await store.journal.after(position, ENTRIES_AT_ONCE)
      const batch = upTo(entries, TURNS_AT_ONCE)
      const last = batch.at(-1)
      if (!last) return false
      await take(batch, last.seq)
      return true
    },
  }
}

/** Only prompts, replies and summaries are embedded. */
function changedExchanges(docs: NewDoc[]): ListedExchange[] {
  const said = docs.filter(({ kind }) => kind === "prompt" || kind === "reply" || kind === "summary")
  const last = new Map(
    said.map(({ exchange, sessionId, atMs }) => [exchange, { exchange, sessionId, changedAtMs: atMs }]),
  )
  return [...last.values()]
}

const TURN_ENTRIES = new Set(["turns.kept", "turns.superseded", "turns.dropped"])

function seqsOf(entries: JournalEntry[], wanted: (entry: JournalEntry) => boolean): number[] {
  const seqs = entries.filter(wanted).flatMap(({ data }) => (Array.isArray(data.seqs) ? (data.seqs as number[]) : []))
  return [...new Set(seqs)]
}

/** The first entries that together name about this many turns, at least one. */
function upTo(entries: JournalEntry[], turns: number): JournalEntry[] {
  let count = 0
  const end = entries.findIndex(({ data }, index) => {
    count += Array.isArray(data.seqs) ? data.seqs.length : 1
    return index > 0 && count > turns
  })
  return end < 0 ? entries : entries.slice(0, end)
}

function docOfTurn(turn: Turn, exchange: number): NewDoc {
  return {
    ref: refOfTurn(turn.seq),
    sessionId: turn.sessionId,
    kind: turn.kind,
    atMs: turn.atMs,
    exchange,
    ...weigh(turn.kind, searchableText(turn)),
  }
}

function docOfThought(thought: Thought): NewDoc {
  return {
    ref: refOfThought(thought.seq),
    sessionId: thought.sessionId,
    kind: "thought",
    atMs: thought.createdAtMs,
    exchange: thought.seq,
    ...weigh("thought", thought.text),
  }
}

const OWN_TOOL = /(?:^|[^a-z])(?:search_conversation_history|resume_session_context)$/
/** The start of our answers; most agents store a result without its tool's name. */
const OWN_ANSWER = /^\s*\{"(?:query":"(?:[^"\\]|\\.){0,200}","exchanges|context_exchanges)":\[/

/** Calls of our own search tools and their results: they copy indexed text, and a query would be its own best hit. */
function isEcho({ kind, toolName, text }: Pick<Turn, "kind" | "toolName" | "text">): boolean {
  if (kind !== "tool_call" && kind !== "tool_result") return false
  return OWN_TOOL.test(toolName ?? "") || (kind === "tool_result" && OWN_ANSWER.test(text))
}
