import type {
  DriverEvent,
  PermissionAnswer,
  PermissionRequest,
  PromptOptions,
  TurnEnd,
} from "../../../domain/driver.ts"
import { errorText, Failure } from "../../../domain/failure.ts"

type Usage = NonNullable<TurnEnd["usage"]>

/** One running turn: passes its events on and collects them for its end. */
export interface DriverTurn {
  /** A piece of the answer. Pieces of one message share a key; another message starts a new paragraph. */
  say(piece: string, message: string): void
  event(event: DriverEvent): void
  /** The last message. */
  text: string
  usage: Usage | null
  /** An error during the turn, reported if the end gives none. */
  error: string | null
  readonly isCancelled: boolean
  /** Marks the turn as cancelled; its end follows. */
  cancel(): void
  /** Aborted when the turn has ended or is cancelled: its questions need no answer then. */
  readonly over: AbortSignal
  end(status: TurnEnd["status"], error?: string | null): void
}

/** One turn at a time. */
export interface DriverTurns {
  readonly running: DriverTurn | undefined
  /** Throws while a turn is running: agents would merge the two. */
  begin(options: PromptOptions): { turn: DriverTurn; end: Promise<TurnEnd> }
  /** The process is gone: fails the running turn and all later ones. */
  lost(reason: string): void
}

export function turns(): DriverTurns {
  let running: DriverTurn | undefined
  let lostBy: string | undefined

  const begin = (options: PromptOptions) => {
    if (running) throw new Failure("agent_busy", "a turn is running in this session")
    const startedMs = performance.now()
    const over = new AbortController()
    const { promise, resolve } = Promise.withResolvers<TurnEnd>()
    let message: string | undefined
    let isCancelled = false
    const turn: DriverTurn = {
      text: "",
      usage: null,
      error: null,
      get isCancelled() {
        return isCancelled
      },
      cancel() {
        isCancelled = true
        over.abort()
      },
      over: over.signal,
      event: (event) => options.onEvent(event),
      say(piece, of) {
        if (piece === "") return
        const isNew = of !== message
        if (isNew && message !== undefined) options.onEvent({ kind: "text", text: "\n\n" })
        turn.text = isNew ? piece : turn.text + piece
        message = of
        options.onEvent({ kind: "text", text: piece })
      },
      end(status, error = null) {
        if (running !== turn) return
        running = undefined
        over.abort()
        const why = status === "failed" ? (error ?? turn.error ?? "the agent gave no reason") : null
        const durationMs = Math.round(performance.now() - startedMs)
        resolve({ status, text: turn.text, error: why, durationMs, usage: turn.usage })
      },
    }
    running = turn
    if (lostBy !== undefined) turn.end("failed", lostBy)
    return { turn, end: promise }
  }

  return {
    get running() {
      return running
    },
    begin,
    lost(reason) {
      lostBy = reason
      running?.end(running.isCancelled ? "cancelled" : "failed", reason)
    },
  }
}

type Asking = (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>

/** The answer to a permission request: a person's decision, always yes where permissions are skipped, no when nobody can be asked. */
export async function permission(
  { skipPermissions, onPermission }: { skipPermissions: boolean; onPermission: Asking },
  request: PermissionRequest,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  if (skipPermissions) return { behavior: "allow" }
  const cancelled = new Promise<PermissionAnswer>((resolve) => {
    const deny = () => resolve({ behavior: "deny", message: "The turn was cancelled." })
    signal.addEventListener("abort", deny, { once: true })
    if (signal.aborted) deny()
  })
  try {
    return await Promise.race([onPermission(request, signal), cancelled])
  } catch (error) {
    const why = errorText(error)
    return { behavior: "deny", message: `Nobody could be asked: ${why}` }
  }
}

/** A tool's input or result in one short line. */
export function inOneLine(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? "")
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}
