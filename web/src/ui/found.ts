import { effect, signal } from "@preact/signals"
import { ask } from "../api.ts"
import { query } from "../router.ts"
import { troubleOf } from "./ask.ts"

export type Found = Awaited<ReturnType<typeof ask<"search">>>

/** While one types, as many as a screen shows; those below come when one looks at them. */
const FIRST = 8
const THEN = 25
const MOST = 100
const LOOKING_MS = 350
const DAY_MS = 24 * 60 * 60 * 1000

/** Kept when the page is left: who comes back sees at once what was there. */
export const found = signal<(Found & { asked: string; limit: number }) | undefined>(undefined)
export const trouble = signal<string | undefined>(undefined)

export interface Following {
  /** Asks for more of the same. */
  more(): void
  stop(): void
}

/** Asks for what the address says, for as long as the page is shown. One question at a time: of what is typed meanwhile, only the last is asked. */
export function followAddress(): Following {
  let isOver = false
  let isAsking = false
  let wanted: { address: URLSearchParams; limit: number } | undefined
  let looking: ReturnType<typeof setTimeout> | undefined

  const askOn = async () => {
    isAsking = true
    while (wanted && !isOver) {
      const { address, limit } = wanted
      wanted = undefined
      try {
        const answer = await ask("search", { ...inputOf(address), limit })
        if (isOver) return
        found.value = { ...answer, asked: address.toString(), limit }
        trouble.value = undefined
        if (limit === FIRST && answer.hits.length === FIRST) looking = setTimeout(() => want(THEN), LOOKING_MS)
      } catch (error) {
        if (!isOver) trouble.value = troubleOf(error)
      }
    }
    isAsking = false
  }
  const want = (limit: number) => {
    clearTimeout(looking)
    const address = query.peek()
    wanted = isEmpty(address) ? undefined : { address, limit }
    if (!wanted) found.value = undefined
    if (!isAsking) void askOn()
  }
  const forget = effect(() => {
    const now = query.value
    const isBack = now.toString() === found.peek()?.asked
    want(isBack ? found.peek()!.limit : FIRST)
  })
  return {
    more: () => want(Math.min(MOST, (found.peek()?.limit ?? FIRST) * 2)),
    stop() {
      isOver = true
      clearTimeout(looking)
      forget()
    },
  }
}

export const isEmpty = (address: URLSearchParams) => (address.get("q") ?? "").trim() === ""
export const hasMore = ({ hits, limit }: { hits: readonly unknown[]; limit: number }) =>
  hits.length === limit && limit < MOST

function inputOf(address: URLSearchParams) {
  const { q = "", project, branch, agent, role, days } = Object.fromEntries(address) as Record<string, string>
  return {
    query: q,
    project: project || "all",
    ...(branch && { branch }),
    ...(agent && { platform: agent }),
    ...(role && { role: role as "user" }),
    ...(days && { since: new Date(Date.now() - Number(days) * DAY_MS).toISOString() }),
  }
}
