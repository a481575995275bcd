import type { Generated, GeneratedAlways } from "kysely"

/** The shape of the rows, the same on both databases: times are milliseconds, flags are 0 or 1, JSON is text. */
export interface Tables {
  projects: { id: string; root_uri: string; created_at_ms: number }
  project_roots: { seen_uri: string; project_id: string }
  sessions: {
    id: string
    platform: string
    native_id: string
    project_id: string | null
    title: string
    tags: string
    key: string | null
    pinned_at_ms: number | null
    archived_at_ms: number | null
    created_at_ms: number
    updated_at_ms: number
  }
  session_projects: { session_id: string; project_id: string }
  thoughts: {
    seq: GeneratedAlways<number>
    session_id: string
    /** Empty on the main line: a null would escape the unique index. */
    branch_id: string
    number: number
    text: string
    total_thoughts: number
    next_needed: number
    is_revision: number
    revises_thought: number | null
    branch_from: number | null
    renumbered_from: number | null
    key: string | null
    created_at_ms: number
  }
  bindings: { caller_key: string; root_uri: string | null; session_id: string | null; updated_at_ms: number }
  journal: {
    seq: GeneratedAlways<number>
    kind: string
    session_id: string | null
    project_id: string | null
    at_ms: number
    data: string
    key: string | null
  }
  followers: { name: string; position: number }
  deliveries: {
    seq: GeneratedAlways<number>
    key: string
    lane: string
    channel: string
    payload: string
    state: string
    repeatable: number
    host: string | null
    attempts: Generated<number>
    max_attempts: number
    due_at_ms: number
    expires_at_ms: number | null
    lease_owner: string | null
    lease_until_ms: number | null
    attempt_started_at_ms: number | null
    outcome: string | null
    created_at_ms: number
    settled_at_ms: number | null
  }
}
