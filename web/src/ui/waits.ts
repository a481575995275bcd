import { computed, type ReadonlySignal, signal } from "@preact/signals"
import { ask } from "../api.ts"
import { type Asked, useAsk } from "./ask.ts"

export type Waits = Awaited<ReturnType<typeof ask<"waiting">>>

/** Agents hold a question for as long as somebody looks this often. */
const EVERY_MS = 2_000
const isAboutIt = ({ kind }: { kind: string }) => kind.startsWith("permission.") || kind.startsWith("message.")

/** What goes on only when a person says something; known on every page. */
export const waits = signal<Asked<Waits>>({ value: undefined, trouble: undefined })

/** What an agent or a message waits for; a queue that is held up waits for an agent. */
export const waitingCount: ReadonlySignal<number> = computed(() => {
  const { permissions = [], messages = [] } = waits.value.value ?? {}
  return permissions.length + messages.length
})

/** Looks for as long as the page is open, whichever it is. */
export function useWaits(): void {
  waits.value = useAsk(() => ask("waiting", {}), { on: isAboutIt, everyMs: EVERY_MS }).value
  document.title = waitingCount.value > 0 ? `(${waitingCount.value}) Throughline` : "Throughline"
}
