import type { AgentConsole } from "../domain/agent-console.ts"
import { errorText } from "../domain/failure.ts"
import type { PaneAddress, PaneLook, Panes } from "../domain/panes.ts"
import { because, type Reason } from "../domain/reason.ts"
import { sleep } from "../lib/clock.ts"
import { makeKeyedMutex } from "../lib/mutex.ts"

/** Submits texts to agents that run in panes, one at a time per pane. */
export interface Paster {
  /** Nothing but `submitted` and `pasted` has left a byte in the pane. */
  submit(request: PasteRequest): Promise<PasteResult>
  /** After a crash in the middle: submits what is already in the input line, and never pastes. */
  finish(request: PasteRequest): Promise<PasteResult>
  /** Ends the turn that runs. Nothing is pressed where it could answer something. */
  interrupt(
    request: InterruptRequest,
  ): Promise<{ kind: "pressed" } | Exclude<PasteResult, { kind: "submitted" | "pasted" }>>
}

export type InterruptRequest = Pick<PasteRequest, "platform" | "pane" | "isAgentThere">

export interface PasteRequest {
  platform: string
  pane: PaneAddress
  text: string
  isCommand?: boolean
  /** Whether the agent's process lives, with the start that is known of it, below the pane's. Asked before every write. */
  isAgentThere(): boolean | Promise<boolean>
  /** Whether the agent says within this time that it has taken it: then nobody looks at the screen for that. */
  isTaken?(withinMs: number): Promise<boolean>
  /** Ends the turn that runs, first. */
  isStop?: boolean
}

export type PasteResult =
  /** Enter was sent to an input line that held the text, and it has left it. The prompt hook tells the hash of `text`. */
  | { kind: "submitted"; text: string }
  /** This text can never be pasted. */
  | { kind: "refused"; reason: string }
  /** Not now; it may be another time. */
  | { kind: "later"; reason: LaterReason; what: string }
  /** The pane or the agent in it is another one, or none. */
  | { kind: "gone"; reason: GoneReason }
  /** It was pasted, and is not known to be submitted: to be settled by evidence, or by `finish`. */
  | { kind: "pasted"; text: string; reason: string }

export type LaterReason = "dialog" | "draft" | "empty" | "unknown-screen" | "moved"
export type GoneReason = "pane_gone" | "pane_dead" | "pane_left" | "pane_other_program"

const LATER: Record<Exclude<LaterReason, "dialog">, Reason> = {
  draft: because("draft_open"),
  empty: because("draft_empty"),
  "unknown-screen": because("no_input_line"),
  moved: because("screen_moves"),
}

/** As the sender is told. */
export const whyLater = ({ reason, what }: Extract<PasteResult, { kind: "later" }>): Reason =>
  reason === "dialog" ? because("dialog_open", what) : LATER[reason]

export interface PasterDeps {
  panes: Panes
  consoles: readonly AgentConsole[]
  /** How long a screen may take to show what was done. */
  settleMs?: number
}

const ESCAPE_MS = 150
/** Agents draw what was pasted a moment later; a look before that is in vain. */
const DRAW_MS = 20
/** A prompt hook comes within 300 ms, mostly within 60. */
const TAKEN_MS = 1_000

export function makePaster({ panes, consoles, settleMs = 3_000 }: PasterDeps): Paster {
  const panesInTurn = makeKeyedMutex()
  const inTurn = <T>({ socket, pane }: PaneAddress, act: () => Promise<T>) => panesInTurn(`${socket}\0${pane}`, act)

  const consoleOf = (platform: string) => consoles.find((one) => one.platform === platform)

  const prepared = ({ platform, text, isCommand = false }: PasteRequest) => {
    const agent = consoleOf(platform)
    if (!agent) return { refused: unwritable(platform) }
    const ready = agent.prepare(text, { isCommand })
    return "refused" in ready ? ready : { agent, text: ready.text }
  }

  /** The input line that is there now, or why nothing can be written. */
  const lookAt = async ({ pane, isAgentThere }: InterruptRequest, agent: AgentConsole) => {
    const look = await panes.look(pane)
    if (!look) return gone("pane_gone")
    if (look.isDead) return gone("pane_dead")
    if (!(await isAgentThere())) return gone("pane_left")
    const screen = agent.screen(look)
    if (screen.kind === "dialog") return later("dialog", screen.what)
    if (screen.kind === "unknown") return later("unknown-screen", "the screen shows no input line")
    return { ...screen, look }
  }
  type Seen = Awaited<ReturnType<typeof lookAt>>

  /** Looks until it is as wanted, or time is up; then what was seen last. */
  const lookUntil = async (request: PasteRequest, agent: AgentConsole, isSo: (seen: Seen) => boolean) => {
    const until = performance.now() + settleMs
    for (let waitMs = DRAW_MS; ; waitMs = Math.min(waitMs * 2, 200)) {
      const seen = await lookAt(request, agent)
      if (isSo(seen) || seen.kind === "gone" || performance.now() > until) return seen
      await sleep(waitMs)
    }
  }

  /** Only to a line that holds the text, and only if nothing moved since that was seen. */
  const enter = async (request: PasteRequest, agent: AgentConsole, text: string): Promise<PasteResult> => {
    const until = performance.now() + settleMs
    for (;;) {
      await sleep(DRAW_MS)
      const seen = await lookUntil(request, agent, (now) => isHolding(now, agent, text))
      if (seen.kind !== "input") return pasted(text, "what" in seen ? seen.what : because(seen.reason).words)
      if (!isHolding(seen, agent, text)) return pasted(text, "the input line shows something else")
      if (await panes.key(request.pane, "Enter", guardOf(seen.look))) {
        if (await request.isTaken?.(TAKEN_MS)) return { kind: "submitted", text }
        const after = await lookUntil(request, agent, (now) => !isHolding(now, agent, text))
        // Enter may have taken something that was offered; it is not sent again without a new look at everything.
        return isHolding(after, agent, text) ? pasted(text, "Enter was not taken") : { kind: "submitted", text }
      }
      if (performance.now() > until) return pasted(text, "the screen keeps changing")
    }
  }

  const submit = async (request: PasteRequest): Promise<PasteResult> => {
    const ready = prepared(request)
    if ("refused" in ready) return { kind: "refused", reason: ready.refused }
    const { agent, text } = ready
    let seen = await lookAt(request, agent)
    if (request.isStop && seen.kind === "input") {
      await panes.key(request.pane, "Escape", keyGuardOf(seen.look))
      // Together with what is pasted next, it would be read as the beginning of another key.
      await sleep(ESCAPE_MS)
      seen = await lookUntil(request, agent, ({ kind }) => kind === "input")
    }
    if (seen.kind === "input" && seen.draft !== "") {
      if (!agent.can.stash || seen.isStashed) return later("draft", "somebody is typing in the input line")
      await panes.key(request.pane, "C-s", keyGuardOf(seen.look))
      seen = await lookUntil(request, agent, (now) => now.kind === "input" && now.draft === "")
    }
    // Nothing was written where the screen has moved in between: an agent at work is looked at again.
    for (const until = performance.now() + settleMs; ; seen = await lookAt(request, agent)) {
      if (seen.kind !== "input") return seen
      if (seen.draft !== "") return later("draft", "the draft in the input line could not be set aside")
      try {
        if (await panes.paste(request.pane, text, guardOf(seen.look))) return await enter(request, agent, text)
      } catch (error) {
        // Whether tmux has done it is not known.
        return pasted(text, errorText(error))
      }
      if (performance.now() > until) return later("moved", "the screen keeps changing")
    }
  }

  const finish = async (request: PasteRequest): Promise<PasteResult> => {
    const ready = prepared(request)
    if ("refused" in ready) return { kind: "refused", reason: ready.refused }
    const seen = await lookAt(request, ready.agent)
    if (seen.kind !== "input") return seen
    if (seen.draft === "") return later("empty", "the input line is empty")
    if (!isHolding(seen, ready.agent, ready.text)) return later("draft", "the input line contains something else")
    return enter(request, ready.agent, ready.text)
  }

  const interrupt: Paster["interrupt"] = async (request) => {
    const agent = consoleOf(request.platform)
    if (!agent) return { kind: "refused", reason: unwritable(request.platform) }
    const seen = await lookAt(request, agent)
    if (seen.kind !== "input") return seen
    const isPressed = await panes.key(request.pane, "Escape", keyGuardOf(seen.look))
    return isPressed ? { kind: "pressed" } : gone("pane_other_program")
  }

  return {
    interrupt: (request) => inTurn(request.pane, () => interrupt(request)),
    submit: (request) => inTurn(request.pane, () => submit(request)),
    finish: (request) => inTurn(request.pane, () => finish(request)),
  }
}

const unwritable = (platform: string) => `${platform} cannot be written to in a terminal`
const later = (reason: LaterReason, what: string) => ({ kind: "later" as const, reason, what })
const gone = (reason: GoneReason) => ({ kind: "gone" as const, reason })
const pasted = (text: string, reason: string) => ({ kind: "pasted" as const, text, reason })
/** A person who scrolls back in the pane stays where they are: a mode is neither left nor waited for. */
const keyGuardOf = ({ program, isInMode }: PaneLook) => ({ program, isInMode })
const guardOf = (look: PaneLook) => ({ ...keyGuardOf(look), cursor: look.cursor })

function isHolding(seen: { kind: string; draft?: string }, agent: AgentConsole, text: string): boolean {
  return seen.kind === "input" && seen.draft !== undefined && agent.isDraftOf(seen.draft, text)
}
