// Puts made messages into a store, as capture does; run by bench/search.ts as a process of its own.
//   node bench/search-fill.ts '{"place":…,"sessions":…}'               all of them, as fast as it goes
//   node bench/search-fill.ts '{"place":…,"sessions":…,"perSecond":…}' new ones at that pace, until told to stop
import { pathToFileURL } from "node:url"
import type { SessionId } from "../src/domain/ids.ts"
import { newSessionId } from "../src/domain/ids.ts"
import type { NewTurn, Store } from "../src/domain/store.ts"
import { postgres } from "../src/store/dialects/postgres.ts"
import { sqlite } from "../src/store/dialects/sqlite.ts"
import { openStore } from "../src/store/open.ts"
import { type Message, type Messages, makeMessages, PER_SESSION } from "./corpus/messages.ts"

export type Place = { kind: "sqlite"; path: string } | { kind: "postgres"; url: string }

export const openPlace = (place: Place): Promise<Store> =>
  openStore(place.kind === "sqlite" ? sqlite({ path: place.path }) : postgres({ url: place.url }))

/** In an empty store, turns are numbered in order. */
export const seqOf = (session: number, number: number) => session * PER_SESSION + number + 1

export interface FillOptions {
  place: Place
  sessions: number
  isTerse?: boolean
  /** Additional sessions, message by message. */
  perSecond?: number
}

const SESSIONS_AT_ONCE = 20
const LIVE_SESSIONS = 8
const TICK_MS = 50

if (process.argv[1] === import.meta.filename) {
  const options = JSON.parse(process.argv[2]!) as FillOptions
  const store = await openPlace(options.place)
  const messages = makeMessages(options)
  const kept =
    options.perSecond === undefined
      ? await fill(store, messages, options.sessions)
      : await live(store, messages, options)
  await store.close()
  process.send?.(kept)
  process.disconnect?.()
}

async function fill(store: Store, messages: Messages, sessions: number): Promise<{ messages: number; bytes: number }> {
  let bytes = 0
  for (let from = 0; from < sessions; from += SESSIONS_AT_ONCE) {
    await store.transaction(
      async (tx) => {
        for (let session = from; session < Math.min(sessions, from + SESSIONS_AT_ONCE); session++) {
          const said = messages.of(session)
          const id = await begin(tx, messages, session)
          const seqs = await keep(tx, id, said)
          if (seqs[0] !== seqOf(session, 0) || seqs.at(-1) !== seqOf(session, PER_SESSION - 1))
            throw new Error(`the turns of session ${session} have other numbers than expected`)
          for (const { text } of said) bytes += Buffer.byteLength(text)
        }
      },
      { durability: "relaxed" },
    )
  }
  return { messages: sessions * PER_SESSION, bytes }
}

/** Several concurrent agents: interleaved turns in small batches. */
async function live(
  store: Store,
  messages: Messages,
  { sessions, perSecond }: FillOptions,
): Promise<{ messages: number }> {
  let isEnded = false
  process.on("message", () => {
    isEnded = true
  })
  // A reused store may have some from an earlier run.
  let next = Math.max(sessions, (await store.facts()).sessions)
  const agents: { id: SessionId; left: Message[] }[] = []
  let kept = 0
  const startMs = performance.now()
  while (!isEnded) {
    const due = Math.floor(((performance.now() - startMs) / 1000) * perSecond!) - kept
    if (due > 0) {
      await store.transaction(
        async (tx) => {
          for (let i = 0; i < LIVE_SESSIONS; i++) {
            if (!agents[i]?.left.length)
              agents[i] = { id: await begin(tx, messages, next), left: messages.of(next++).toReversed() }
          }
          const batches = new Map<SessionId, Message[]>()
          for (let i = 0; i < due; i++) {
            const { id, left } = agents[(kept + i) % LIVE_SESSIONS]!
            const message = left.pop()
            if (!message) continue
            if (!batches.has(id)) batches.set(id, [])
            batches.get(id)!.push(message)
          }
          for (const [id, batch] of batches) await keep(tx, id, batch)
        },
        { durability: "relaxed" },
      )
      kept += due
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  return { messages: kept }
}

async function begin(tx: Store, messages: Messages, session: number): Promise<SessionId> {
  const plan = messages.plan(session)
  const project = await tx.projects.ensure(pathToFileURL(plan.root).href, plan.startMs)
  const id = newSessionId()
  await tx.sessions.create({
    id,
    platform: plan.platform,
    nativeId: plan.nativeId,
    projectId: project.id,
    title: `${plan.topic} ${session}`,
    tags: [],
    key: null,
    createdAtMs: plan.startMs,
  })
  await tx.sessions.describe(id, { projectPath: plan.root, gitBranch: plan.gitBranch, model: "model-x" })
  return id
}

/** Turns, counts and journal, as capture writes them. */
export async function keep(tx: Store, sessionId: SessionId, said: readonly Message[]): Promise<number[]> {
  const turns = said.map(
    ({ nativeId, kind, text, atMs, toolName }): NewTurn => ({
      sessionId,
      nativeId,
      kind,
      text,
      atMs,
      toolName,
      model: null,
      toolCallId: null,
      isError: false,
      isFallback: false,
      usage: null,
      sourceId: null,
    }),
  )
  const put = await tx.turns.put(turns)
  await tx.sessions.grow(sessionId, {
    turns: put.length,
    prompts: put.filter(({ kind }) => kind === "prompt").length,
    lastAtMs: said.at(-1)!.atMs,
  })
  const seqs = put.map(({ seq }) => seq)
  await tx.journal.append([{ kind: "turns.kept", sessionId, atMs: said.at(-1)!.atMs, data: { seqs } }])
  return seqs
}
