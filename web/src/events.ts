import { signal } from "@preact/signals"
import { authorization, lineLost, lineOpened } from "./session.ts"

/** An entry of the journal, as the daemon sends it. */
export interface JournalEvent {
  seq: number
  kind: string
  sessionId: string | null
  projectId: string | null
  at: string
  data: Record<string, unknown>
}

export const isConnected = signal(false)
/** How often the line was there anew. Who was away for long is not told all that happened, and asks again. */
export const opened = signal(0)

type Listener = (events: JournalEvent[]) => void
const listeners = new Set<Listener>()
let lastSeq: number | undefined
const RETRY_MS = [500, 1_000, 2_000, 5_000]

/** Tells of what happens from now on; what was missed while the line was down comes after it. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Follows the journal for as long as the page is open and looked at. */
export async function followJournal(): Promise<never> {
  let line = new AbortController()
  let leaving: ReturnType<typeof setTimeout> | undefined
  document.addEventListener("visibilitychange", () => {
    clearTimeout(leaving)
    if (document.hidden) leaving = setTimeout(() => line.abort(), HIDDEN_MS)
  })
  for (let failed = 0; ; failed++) {
    line = new AbortController()
    try {
      await readStream(line.signal, () => {
        failed = 0
      })
    } catch {
      // A daemon that is started anew is away for a moment.
    }
    isConnected.value = false
    lineLost()
    if (line.signal.aborted) await untilLookedAt()
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(failed, RETRY_MS.length - 1)]))
  }
}

/** A browser has six lines to one place, and a tab that nobody looks at would keep one from the others. */
const HIDDEN_MS = 20_000

async function untilLookedAt(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }))
}

async function readStream(signal: AbortSignal, onOpen: () => void): Promise<void> {
  const from = lastSeq === undefined ? "" : `?after=${lastSeq}`
  const response = await fetch(`/events${from}`, { headers: await authorization(), signal })
  if (!response.ok || !response.body) throw new Error(`the journal answered ${response.status}`)
  onOpen()
  lineOpened()
  isConnected.value = true
  opened.value++
  let rest = ""
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + value).split("\n\n")
    rest = blocks.pop() ?? ""
    const events = blocks.map(parseBlock).filter((event) => event !== undefined)
    if (events.length > 0) for (const listener of listeners) listener(events)
  }
}

function parseBlock(block: string): JournalEvent | undefined {
  let data = ""
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) lastSeq = Number(line.slice(3))
    else if (line.startsWith("data:")) data += line.slice(5)
  }
  return data.trim() === "" ? undefined : (JSON.parse(data) as JournalEvent)
}
