import type * as z from "zod"
import { Failure } from "./failure.ts"
import type { SessionId } from "./ids.ts"
import type { DeliveryRoute } from "./message.ts"

export const DELIVERY_STATES = [
  "queued",
  "delivered",
  "seen",
  "running",
  "done",
  "failed",
  "cancelled",
  "expired",
  "uncertain",
] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Something still to be done for somebody. Lanes are served in order, and side by side. */
export interface Delivery {
  seq: number
  key: string
  lane: string
  channel: string
  payload: Record<string, unknown>
  state: DeliveryState
  /** False where doing it twice does harm: after a crash it is settled by evidence, never repeated blindly. */
  repeatable: boolean
  host: string | null
  attempts: number
  maxAttempts: number
  dueAtMs: number
  expiresAtMs: number | null
  leaseOwner: string | null
  leaseUntilMs: number | null
  attemptStartedAtMs: number | null
  outcome: string | null
  /** Equal for what would be said twice. */
  fingerprint: string | null
  /** To which session it was given, and by which way. */
  sessionId: SessionId | null
  route: DeliveryRoute | null
  /** The caller's own key of the call that fetched it. */
  fetchKey: string | null
  createdAtMs: number
  /** When its state changed last; null while it is queued. */
  settledAtMs: number | null
}

/** Which session is tried, and by which way. */
export interface AttemptRoute {
  /** Null for an agent that only fetches: no session of it is seen. */
  sessionId: SessionId | null
  route: DeliveryRoute
  fetchKey?: string | null
}

export interface NewDelivery {
  key: string
  lane: string
  channel: string
  payload: Record<string, unknown>
  repeatable: boolean
  host?: string | null
  maxAttempts?: number
  dueAtMs?: number
  expiresAtMs?: number | null
  fingerprint?: string | null
}

export interface LeaseRequest {
  owner: string
  host: string
  leaseMs: number
  limit: number
  channels: string[]
  /** Only these lanes; all of them when absent. */
  lanes?: readonly string[]
  /** Lanes that are left alone for now. */
  exceptLanes?: readonly string[]
}

/** Reads what deliveries of one channel carry. */
export interface PayloadReader<T> {
  /** Keys that this version does not know stay; a payload that does not fit is refused. */
  (delivery: { payload: Record<string, unknown> }): T
  /** Where the payload does not fit; undefined where it does. */
  misfit(delivery: { payload: Record<string, unknown> }): string | undefined
}

export function payloadReader<T>(schema: z.ZodType): PayloadReader<T> {
  /** Checked once: a delivery is read many times, and its payload is replaced, never changed. */
  const known = new WeakSet<object>()
  const misfit = ({ payload }: { payload: Record<string, unknown> }) => {
    if (known.has(payload)) return undefined
    const { error } = schema.safeParse(payload)
    if (error) return error.issues[0]?.path.join(".") || "its beginning"
    known.add(payload)
    return undefined
  }
  const read = (delivery: { payload: Record<string, unknown> }) => {
    const where = misfit(delivery)
    if (where !== undefined) throw new Failure("internal", `the payload of a delivery cannot be read at ${where}`)
    return delivery.payload as T
  }
  return Object.assign(read, { misfit })
}
