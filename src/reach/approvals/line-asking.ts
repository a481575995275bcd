import { setTimeout as sleep } from "node:timers/promises"
import { ANSWERED, type LineAnswer, type LineAsking, type LineQuestion } from "../../domain/agent-line.ts"
import type { Machine } from "../../domain/platform.ts"
import type { AskingDeps } from "./asking.ts"
import { askerOf } from "./asking.ts"
import { AT_TERMINAL } from "./dialogs.ts"

export interface LineAskingDeps
  extends Pick<AskingDeps, "store" | "permits" | "isAnyoneThere" | "teamAt" | "agents" | "onTrouble"> {
  linesAsking: readonly LineAsking[]
  machine: Machine
  /** Keeps a session that has said nothing yet; false when it may not be kept. */
  meet(found: { platform: string; nativeId: string; cwd: string }): Promise<boolean>
}

const LOOK_MS = 2_000

/** What sessions ask by their platform's own line: the same as what hooks ask. Nobody listens where nobody could answer. */
export function makeLinesAsking(deps: LineAskingDeps): { run(signal: AbortSignal): Promise<void> } {
  const { linesAsking, machine, isAnyoneThere, onTrouble } = deps
  const follow = async (line: LineAsking, signal: AbortSignal) => {
    while (!signal.aborted) {
      if (await isAnyoneThere()) {
        const over = new AbortController()
        const leave = setInterval(() => {
          isAnyoneThere().then(
            (is) => is || over.abort(),
            () => {},
          )
        }, LOOK_MS)
        const ask = (question: LineQuestion, done: AbortSignal) => asked(deps, line.platform, question, done)
        await line.follow(machine, ask, AbortSignal.any([signal, over.signal])).finally(() => clearInterval(leave))
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
    }
  }
  return {
    async run(signal) {
      const tries = linesAsking.map(async (line) => {
        while (!signal.aborted)
          await follow(line, signal).catch(async (error: unknown) => {
            onTrouble(error, `what ${line.platform} asks`)
            await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
          })
      })
      await Promise.all(tries)
    },
  }
}

async function asked(
  { store, permits, agents, teamAt, meet }: LineAskingDeps,
  platform: string,
  { nativeId, cwd, key: own, request }: LineQuestion,
  over: AbortSignal,
): Promise<LineAnswer | undefined> {
  if (await store.pairs.ofNative(nativeId)) return undefined
  const known = await store.sessions.byNative(platform, nativeId)
  if (!known && (cwd === null || !(await meet({ platform, nativeId, cwd })))) return undefined
  const session = known ?? (await store.sessions.byNative(platform, nativeId))
  if (!session) return undefined
  const label = agents.find((agent) => agent.platform === platform)?.label ?? platform
  const team = cwd === null ? null : teamAt(platform, cwd)
  const context = { asker: askerOf(label, cwd), team, sessionId: session.id, canUpdateInput: false }
  const key = `${platform} ${own}`
  const { id } = await permits.ask(request, context, { key, mostMs: Number.POSITIVE_INFINITY })
  const release = () => over.reason === ANSWERED && void permits.release(id, AT_TERMINAL).catch(() => {})
  over.addEventListener("abort", release)
  try {
    while (!over.aborted) {
      const held = await permits.hold(id, over)
      if (held.kind === "answer") return { answer: held.answer, taken: () => permits.taken(key) }
      if (held.kind === "over") return undefined
    }
    return undefined
  } finally {
    over.removeEventListener("abort", release)
  }
}
