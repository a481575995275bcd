import { ANSWERED, type LineAnswer, type LineAsking, type LineQuestion } from "../domain/agent-line.ts"
import type { Machine } from "../domain/platform.ts"
import { every } from "../lib/clock.ts"
import { superviseLoop } from "../lib/supervised-loop.ts"
import type { HookApprovalsDeps } from "./asking.ts"
import { askerOf } from "./asking.ts"
import { AT_TERMINAL } from "./dialogs.ts"

export interface LineAskingDeps
  extends Pick<HookApprovalsDeps, "store" | "permits" | "isAnyoneThere" | "teamAt" | "agents" | "onTrouble"> {
  linesAsking: readonly LineAsking[]
  machine: Machine
  /** Keeps a session that has said nothing yet; false when it may not be kept. */
  meet(found: { platform: string; nativeId: string; cwd: string }): Promise<boolean>
}

const LOOK_MS = 2_000

/** What sessions ask by their platform's own line: the same as what hooks ask. Nobody listens where nobody could answer. */
export function makeLinesAsking(deps: LineAskingDeps): { run(signal: AbortSignal): Promise<void> } {
  const { linesAsking, machine, isAnyoneThere, onTrouble } = deps
  /** For as long as somebody could answer. */
  const follow = async (line: LineAsking, signal: AbortSignal, alive: () => void) => {
    if (!(await isAnyoneThere())) return
    alive()
    const over = new AbortController()
    const stopLooking = every(LOOK_MS, () => {
      isAnyoneThere().then(
        (is) => is || over.abort(),
        () => {},
      )
    })
    const heard = {
      asked: (question: LineQuestion, done: AbortSignal) => asked(deps, line.platform, question, done),
      caughtUp: (keys: string[]) =>
        void settleOthers(deps, line.platform, keys).catch((error: unknown) =>
          onTrouble(error, `what ${line.platform} asks no more`),
        ),
    }
    await line.follow(machine, heard, AbortSignal.any([signal, over.signal])).finally(stopLooking)
  }
  return {
    async run(signal) {
      const loops = linesAsking.map((line) =>
        superviseLoop({
          name: `${line.platform} approvals`,
          signal,
          everyMs: LOOK_MS,
          stallsAfterMs: Number.POSITIVE_INFINITY,
          onTrouble,
          round: (_, alive) => follow(line, signal, alive),
        }),
      )
      await Promise.all(loops)
    },
  }
}

/** What was answered while nobody listened: it is listed as waiting, and its session asks it no more. */
async function settleOthers({ store, permits }: LineAskingDeps, platform: string, keys: string[]): Promise<void> {
  const open = new Set(keys.map((own) => permits.idOf(`${platform} ${own}`)))
  for (const { id, via, sessionId } of await permits.waiting()) {
    if (via !== "hook" || sessionId === null || open.has(id)) continue
    const session = await store.sessions.byId(sessionId)
    if (session?.platform === platform) await permits.release(id, AT_TERMINAL)
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
      const waited = await permits.waitFor(id, over)
      if (waited.kind === "answer") return { answer: waited.answer, taken: () => permits.taken(key) }
      if (waited.kind === "over") return undefined
    }
    return undefined
  } finally {
    over.removeEventListener("abort", release)
  }
}
