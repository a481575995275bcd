import { basename } from "node:path"
import type { PermissionAnswer, PermissionRequest } from "../domain/driver.ts"
import { type AskStep, type HookEvent, hookPayload, mayAsk, type SentHook } from "../domain/hook.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Permission } from "../domain/permission.ts"
import type { AgentSetup } from "../domain/setup.ts"
import type { Store } from "../domain/store.ts"
import { after } from "../lib/clock.ts"
import { type Dialog, type DialogDeps, makeDialogs } from "./dialogs.ts"

/** Hooks that ask for a person's word while their agent's own dialog is open: the first answer wins. */
export interface HookApprovals {
  /** What the hook prints, null when none is to come from here, undefined when it is to come and wait. */
  ask(sent: SentHook, step: AskStep, signal: AbortSignal): Promise<string | null | undefined>
  /** What any hook of an agent said, in which it may show that it went on. */
  heard(sent: SentHook, event: HookEvent): void
}

export interface HookApprovalsDeps extends DialogDeps {
  store: Pick<Store, "sessions" | "pairs">
  agents: readonly AgentSetup[]
  permits: DialogDeps["permits"] & {
    ask(request: PermissionRequest, context: AskContext, options: AskOptions): Promise<Permission>
    waitFor(
      id: string,
      signal: AbortSignal,
    ): Promise<{ kind: "answer"; answer: PermissionAnswer } | { kind: "again" | "over" }>
    taken(key: string): Promise<void>
    idOf(key: string): string
    waiting(): Promise<Permission[]>
  }
  /** Kept as every hook is; undefined for what is not to be kept. */
  receive(sent: SentHook): Promise<{ event: HookEvent } | undefined>
  /** Whether somebody could answer elsewhere than at the terminal. */
  isAnyoneThere(): Promise<boolean>
  teamAt(platform: string, dir: string): string | null
}

interface AskContext {
  asker: string
  team: string | null
  sessionId: SessionId
  canUpdateInput: boolean
}

interface AskOptions {
  key: string
  mostMs: number
  isAsked?(): Promise<boolean>
}

/** Who asks, in words. */
export const askerOf = (label: string, cwd: string | null = null) =>
  cwd === null ? label : `${label} in ${basename(cwd)}`

const COMES_MS = 3_000
/** Where nothing is shown while the hook waits, whoever sits there must not wait for long. */
const HIDDEN_MS = 60_000

export function makeAsking(deps: HookApprovalsDeps): HookApprovals {
  const { store, agents, permits, receive, isAnyoneThere, teamAt } = deps
  const dialogs = makeDialogs(deps)

  return {
    async ask(sent, step, signal) {
      const key = `${sent.platform} ${sent.key}`
      if (step === "taken") {
        await permits.taken(key)
        return null
      }
      const isWaiting = step === "held"
      const { asking, read, label } = agents.find(({ platform }) => platform === sent.platform) ?? {}
      const payload = hookPayload(sent)
      const question = asking?.question(payload)
      if (!asking || !question || !mayAsk(sent.env)) return null
      if (!isWaiting && !(await isAnyoneThere())) return null
      const { sessionId: nativeId, cwd, pid } = read!(payload, sent.env)
      // Of an agent that works for a team its driver asks.
      if (nativeId === undefined || (await store.pairs.ofNative(nativeId))) return null
      const heard = await receive(sent)
      const session = heard && (await store.sessions.byNative(sent.platform, nativeId))
      if (!session) return null
      const { subagent, isShown, request } = question
      const dialog: Dialog = {
        ...{ platform: sent.platform, nativeId, sessionId: session.id, pid, askedAtMs: sent.atMs, payload, asking },
        hookPid: Number(sent.env.HOOK_PID) || undefined,
        isShown,
        agentId: subagent === null ? undefined : String(payload.agent_id),
      }
      const who = askerOf(label!, cwd)
      const whose = subagent === null ? who : `${who}, sub-agent ${subagent}`
      const asker = isShown ? whose : `${whose} (nothing of it is on the screen)`
      const team = cwd === undefined ? null : teamAt(sent.platform, cwd)
      const { id } = await permits.ask(
        request,
        { asker, team, sessionId: session.id, canUpdateInput: true },
        {
          key,
          mostMs: isShown ? Number.POSITIVE_INFINITY : HIDDEN_MS,
          isAsked: () => dialogs.isOpen(id),
        },
      )
      const unwatch = dialogs.watch(id, dialog)
      if (!isWaiting) {
        // It comes again to wait; the terminal may be answered before it does.
        after(COMES_MS, unwatch, { ref: false })
        return undefined
      }
      try {
        const waited = await permits.waitFor(id, signal)
        if (waited.kind === "answer") return asking.answer(payload, waited.answer)
        return waited.kind === "over" ? null : undefined
      } finally {
        // One whose connection was closed may come again; whether it is gone is seen sooner than that it does not.
        if (signal.aborted) after(COMES_MS, unwatch, { ref: false })
        else unwatch()
      }
    },
    heard: dialogs.heard,
  }
}
