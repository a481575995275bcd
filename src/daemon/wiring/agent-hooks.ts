import type { HookIntake, KeptHook } from "../../capture/store/intake.ts"
import { hookPayload, PROMPT_EVENTS, type SentHook } from "../../domain/hook.ts"
import type { AgentSetup } from "../../domain/setup.ts"
import type { Clock } from "../../lib/clock.ts"
import type { HookApprovals } from "../../permissions/asking.ts"
import type { QueueModule } from "../../queue/module.ts"

/** The answers to agents' hooks. */
export interface AgentHooks {
  /** Resolves once the event is stored, with the text to print. Aborted when the hook no longer listens. */
  onHook(sent: SentHook, signal?: AbortSignal): Promise<string | undefined>
  /** A long poll: a text that wakes the agent, null to stop, undefined to poll again. */
  onWait(sent: SentHook, signal: AbortSignal): Promise<string | null | undefined>
  /** An approval request: the decision, null if there will be none, undefined to wait for it. */
  onAsk: HookApprovals["ask"]
}

interface Deps {
  agents: readonly AgentSetup[]
  intake: HookIntake
  composeStartContext(begun: KeptHook & { platform: string }): Promise<string | undefined>
  missed: MissedStarts
  reach: Pick<QueueModule, "turnContext" | "wait">
  asking: HookApprovals
}

export function agentHooks({ agents, intake, composeStartContext, missed, reach, asking }: Deps): AgentHooks {
  const agentOf = (platform: string) => agents.find((one) => one.platform === platform)
  return {
    async onHook(sent, signal) {
      const heard = await intake.receive(sent)
      const { startContext, promptContext, turnContext } = agentOf(sent.platform) ?? {}
      if (!heard) return undefined
      asking.heard(sent, heard.event)
      const start = promptContext && PROMPT_EVENTS.includes(heard.event.name) ? missed.take(heard) : undefined
      const late = start && (await composeStartContext({ platform: sent.platform, ...start }))
      const said = late ?? (startContext && (await composeStartContext({ platform: sent.platform, ...heard })))
      // The hook is gone: the next prompt gets it.
      if (said !== undefined && signal?.aborted) missed.add(start ?? heard)
      if (late !== undefined) return promptContext!(late)
      if (said !== undefined) return startContext!(said)
      const more = turnContext && (await reach.turnContext(sent, heard.event))
      return more === undefined ? undefined : turnContext!(more)
    },
    onAsk: asking.ask,
    async onWait(sent, signal) {
      const agent = agentOf(sent.platform)
      const answer = agent && (await reach.wait(sent, agent.read(hookPayload(sent), sent.env), signal))
      return answer === undefined || answer.kind === "over" ? null : answer.kind === "wake" ? answer.text : undefined
    },
  }
}

/** Sessions that began while no daemon could answer: they get their start context at a prompt, once. */

export interface MissedStarts {
  add(spooled: KeptHook): void
  /** The missed start of this event's session, if any. */
  take(heard: KeptHook): KeptHook | undefined
}

/** After this long the context is no longer useful. */
const RECENT_MS = 30 * 60 * 1000
const MOST = 500

/** `onMissed` gives the next prompt's hook more time: on a busy machine its usual limit would be missed each time. */
export function makeMissedStarts(clock: Clock, onMissed: () => void): MissedStarts {
  const starts = new Map<string, KeptHook>()
  const keyOf = ({ sent, event }: KeptHook) => `${sent.platform} ${event.sessionId}`
  return {
    add(spooled) {
      const { sent, event } = spooled
      // Sub-agents get context from their parents. An ended session may be resumed, and has had none.
      if (event.sessionId === undefined || event.parent?.kind === "subagent") return
      if (event.start !== undefined && event.start !== "resume" && clock.nowMs() - sent.atMs < RECENT_MS) {
        starts.delete(keyOf(spooled))
        starts.set(keyOf(spooled), spooled)
        const [oldest] = starts.keys()
        if (starts.size > MOST && oldest !== undefined) starts.delete(oldest)
        onMissed()
      }
    },
    take(heard) {
      const start = starts.get(keyOf(heard))
      starts.delete(keyOf(heard))
      return start && clock.nowMs() - start.sent.atMs < RECENT_MS ? start : undefined
    },
  }
}
