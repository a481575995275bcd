import type {
  DriverEvent,
  PermissionAnswer,
  PermissionRequest,
  PromptOptions,
  TurnEnd,
} from "../../../domain/driver.ts"
import { errorText, Failure } from "../../../domain/failure.ts"

type Usage = NonNullable<TurnEnd["usage"]>

/** One running turn: what is heard of it is passed on, and gathered for its end. */
export interface DriverTurn {
  /** A piece of the answer. Pieces of one message have one key; another message begins a new paragraph. */
  say(piece: string, message: string): void
  event(event: DriverEvent): void
  /** The whole of the last message, where the agent says it in one piece. */
  text: string
  usage: Usage | null
  /** What went wrong on the way, if the agent says no more at the end. */
  error: string | null
  readonly isCancelled: boolean
  /** It is to be over soon. */
  cancel(): void
  /** Aborted when the turn is over, or to be: nobody needs the answer to a question of it then. */
  readonly over: AbortSignal
  end(status: TurnEnd["status"], error?: string | null): void
}

/** One turn at a time. */
export interface DriverTurns {
  readonly running: DriverTurn | undefined
  /** Throws when one is running: agents would merge the two. */
  begin(options: PromptOptions): { turn: DriverTurn; end: Promise<TurnEnd> }
  /** The process is gone, and with it what ran. */
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
        const why = status === "failed" ? (error ?? turn.error ?? "the agent does not say why") : null
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

/** What a tool is about to do, or what came of it, in one short line. */
export function inOneLine(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? "")
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}
