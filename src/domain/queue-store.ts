import type { AttemptRoute, Delivery, DeliveryState, LeaseRequest, NewDelivery } from "./delivery.ts"
import type { ForgetFilter } from "./forgetting.ts"
import type { ProjectId, SessionId } from "./ids.ts"
import type { Route } from "./live.ts"
import type { Presence } from "./presence.ts"
import type { TaskState } from "./task-state.ts"
import type { NewUpdate, Update, UpdateType } from "./update.ts"

/** The part of the Store that is about what is still to be done, and for whom. */
export interface Deliveries {
  /** False when the key was there before; the first one stands. */
  enqueue(delivery: NewDelivery, nowMs: number): Promise<boolean>
  byKey(key: string): Promise<Delivery | undefined>
  /** One of the same fingerprint that was queued since then, and neither failed nor was cancelled. */
  twin(fingerprint: string, sinceMs: number): Promise<Delivery | undefined>
  /**
   * The heads of free lanes, leased to the owner. Expired leases come back; those without attempts left are settled first.
   * One that must not be repeated and whose attempt was cut off stays the head of its lane until `cutOff` has settled it.
   */
  lease(request: LeaseRequest, nowMs: number): Promise<Delivery[]>
  /** Settles those of the channel whose time ran out before anybody was at them, and returns them. */
  expire(channel: string, nowMs: number): Promise<Delivery[]>
  /** Those whose attempt was cut off, leased to the owner, to be settled by evidence. */
  cutOff(request: LeaseRequest, nowMs: number): Promise<Delivery[]>
  /** Written before the act, so that a crash in between is known. False when the lease is no longer the owner's. */
  startAttempt(seq: number, owner: string, nowMs: number, route?: AttemptRoute): Promise<boolean>
  renew(seq: number, owner: string, leaseMs: number, nowMs: number): Promise<boolean>
  settle(
    seq: number,
    owner: string,
    state: Exclude<DeliveryState, "queued">,
    outcome: string | null,
    nowMs: number,
  ): Promise<boolean>
  /** Gives a leased one back for another try. With `countAttempt: false` nothing was tried. */
  retry(
    seq: number,
    owner: string,
    dueAtMs: number,
    outcome: string,
    options?: { countAttempt?: boolean },
  ): Promise<boolean>
  /**
   * After it was handed over, or by somebody else than the dispatcher: from one of these states to another. One that is
   * leased now is left alone while it is queued.
   */
  move(
    seq: number,
    from: readonly DeliveryState[],
    to: Exclude<DeliveryState, "queued">,
    outcome: string | null,
    nowMs: number,
  ): Promise<boolean>
  /**
   * Ends the leases of those that held them under this name before and are no more. What they had only taken was not
   * tried, however often they died.
   */
  endLeases(ownerPrefix: string, except: string, nowMs: number): Promise<void>
  /**
   * What it says, put in other words; how far it is stays as it is. With `ifWaitingAtMs` only while nobody is at it, so that
   * whoever takes it next says the new words. False when it was not changed.
   */
  rewrite(seq: number, payload: Record<string, unknown>, options?: { ifWaitingAtMs?: number }): Promise<boolean>
  /**
   * Takes the words out of those that hold the text, or were made in that time, or went to these sessions or wait for them. What
   * waits is cancelled by it, and returned.
   */
  forget(options: ForgetFilter & { sessionIds?: readonly SessionId[] }, nowMs: number): Promise<Delivery[]>
  /**
   * Drops what was over before then, at most this many, and returns how many those were. What teams asked stays, because it is
   * counted, and so do messages for agents that a person has still to decide about.
   */
  drop(options: { beforeMs: number; limit: number }): Promise<number>
  pending(lane: string): Promise<Delivery[]>
  /** The first queued delivery of each of these lanes. */
  heads(lanes: readonly string[]): Promise<Delivery[]>
  /** In order; with `first` or `last`, so many from that end. */
  ofLanes(
    lanes: readonly string[],
    options?: { states?: readonly DeliveryState[]; first?: number; last?: number },
  ): Promise<Delivery[]>
  /** All of the channel that are in one of these states, in order. */
  ofChannel(channel: string, states: readonly DeliveryState[]): Promise<Delivery[]>
  /** Given to this session and not final: queued with an attempt in progress, delivered, seen or running. */
  underWay(sessionId: SessionId): Promise<Delivery[]>
  /** What a call under this key has fetched: the same call gets it again. */
  fetchedUnder(fetchKey: string): Promise<Delivery[]>
  counts(channel: string): Promise<{ lane: string; state: DeliveryState; count: number }[]>
}

/** Where sessions can be reached. */
export interface Routes {
  put(route: Omit<Route, "platform" | "nativeId">): Promise<void>
  /** Newest first. */
  ofSession(sessionId: SessionId): Promise<Route[]>
  drop(sessionId: SessionId, host: string, pid: number): Promise<void>
  /** All of this host. */
  list(host: string): Promise<Route[]>
}

export interface PresenceStore {
  list(): Promise<Presence[]>
  byTeam(team: string): Promise<Presence | undefined>
  /** Stores what was observed. Once the row exists, only `setSupervised` changes whether it is supervised: that is a person's decision. */
  put(presence: Presence): Promise<void>
  setSupervised(team: string, isSupervised: boolean, nowMs: number, host: string): Promise<void>
}

export interface Updates {
  /** Those that are new; one whose key is there already changes nothing. */
  add(updates: NewUpdate[]): Promise<number>
  /** In order; with `newest`, the last ones. */
  after(
    team: string,
    options: { afterSeq?: number; sinceMs?: number; newest?: boolean; types?: readonly UpdateType[]; limit: number },
  ): Promise<Update[]>
  last(team: string): Promise<number>
  /** Those that hold the text, or are of that time. */
  forget(options: ForgetFilter): Promise<number>
}

export interface TaskStates {
  put(state: TaskState): Promise<void>
  /** Of this session; of the newest one that has any, when it is not named. */
  get(projectId: ProjectId, nativeSessionId?: string): Promise<TaskState | undefined>
  clear(projectId: ProjectId, nativeSessionId?: string): Promise<number>
  /** Those that hold the text, or were saved in that time; returns how many are gone. */
  forget(options: ForgetFilter): Promise<number>
}
