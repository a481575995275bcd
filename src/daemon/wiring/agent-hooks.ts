/** The answers to agents' hooks. */
import type { HookIntake, KeptHook } from "../../capture/store/intake.ts"
import { hookPayload, PROMPT_EVENTS, type SentHook } from "../../domain/hook.ts"
import type { AgentSetup } from "../../domain/setup.ts"
import type { HookApprovals } from "../../permissions/asking.ts"
import type { QueueModule } from "../../queue/module.ts"
import type { MissedStarts } from "./missed-starts.ts"
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
