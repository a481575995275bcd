import type { LeaseRequest, NewDelivery } from "../../../src/domain/delivery.ts"
import { newSessionId, type ProjectId, type SessionId } from "../../../src/domain/ids.ts"
import type { NewSession, Session } from "../../../src/domain/session.ts"
import type { Store } from "../../../src/domain/store.ts"
import type { NewThought } from "../../../src/domain/thought.ts"

/** Beyond 32 bits, so that a column which is too narrow or a number that comes back as text shows. */
export const NOW = 1_800_000_000_000

export const range = (count: number) => Array.from({ length: count }, (_, index) => index)

export async function addProject(store: Store, name: string): Promise<ProjectId> {
  return (await store.projects.ensure(`file:///${name}`, NOW)).id
}

export function newSession(values: Partial<NewSession> = {}): NewSession {
  const id = values.id ?? newSessionId()
  return {
    id,
    platform: "throughline",
    nativeId: id,
    projectId: null,
    title: "untitled",
    tags: [],
    key: null,
    createdAtMs: NOW,
    ...values,
  }
}

export async function addSession(store: Store, values: Partial<NewSession> = {}): Promise<Session> {
  return (await store.sessions.create(newSession(values))).session
}

export function newThought(sessionId: SessionId, number: number, values: Partial<NewThought> = {}): NewThought {
  return {
    sessionId,
    branchId: null,
    number,
    text: `thought ${number}`,
    totalThoughts: 5,
    nextThoughtNeeded: true,
    isRevision: false,
    revisesThought: null,
    branchFromThought: null,
    renumberedFrom: null,
    key: null,
    createdAtMs: NOW,
    ...values,
  }
}

/** The key says which lane it is in: "a1" is in lane "a". */
export function newDelivery(key: string, values: Partial<NewDelivery> = {}): NewDelivery {
  return { key, lane: key.slice(0, 1), channel: "mail", payload: {}, repeatable: true, ...values }
}

export async function enqueue(store: Store, ...keys: string[]): Promise<void> {
  for (const key of keys) await store.deliveries.enqueue(newDelivery(key), NOW)
}

export const LEASE_MS = 1000

export function leaseFor(owner: string, values: Partial<LeaseRequest> = {}): LeaseRequest {
  return { owner, host: "here", leaseMs: LEASE_MS, limit: 100, channels: ["mail"], ...values }
}

export async function leasedKeys(
  store: Store,
  owner: string,
  nowMs = NOW,
  values: Partial<LeaseRequest> = {},
): Promise<string[]> {
  return (await store.deliveries.lease(leaseFor(owner, values), nowMs)).map((delivery) => delivery.key)
}

/** Leases exactly one and returns its number. */
export async function leaseOne(store: Store, owner: string, nowMs = NOW): Promise<number> {
  const leased = await store.deliveries.lease(leaseFor(owner, { limit: 1 }), nowMs)
  if (leased.length !== 1) throw new Error("nothing could be leased")
  return leased[0]!.seq
}
