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
    domain: string | null
    key: string | null
    pinned_at_ms: number | null
    archived_at_ms: number | null
    created_at_ms: number
    updated_at_ms: number
    /** Kept with each thought, so that reading a session does not count them. */
    thought_count: Generated<number>
    branch_count: Generated<number>
    turn_count: Generated<number>
    prompt_count: Generated<number>
    model: string | null
    git_branch: string | null
    agent_version: string | null
    /** The folder as the agent named it: resuming needs it, also where the project's root is another. */
    project_path: string | null
    title_rank: Generated<number>
    is_subagent: Generated<number>
    origin: Generated<string>
    logged_by: string | null
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
  sources: {
    id: GeneratedAlways<number>
    platform: string
    key: string
    path: string
    mode: string
    inode: string
    size_bytes: number
    mtime_ms: number
    offset_bytes: number
    head_hash: string
    tail_hash: string
    memory: string
    read_at_ms: number
    lines: number
    skipped: string
    unknown: number
    unreadable: number
    trouble: string | null
    /** Null where it was read before origins were kept. */
    origin: string | null
  }
  trusted_paths: { path: string; at_ms: number }
  followed_folders: { host: string; path: string; seen_at_ms: number }
  turns: {
    seq: GeneratedAlways<number>
    session_id: string
    native_id: string
    kind: string
    text: string
    at_ms: number
    model: string | null
    tool_name: string | null
    tool_call_id: string | null
    is_error: number
    is_fallback: number
    usage: string | null
    metadata: string | null
    source_id: number | null
    superseded_at_ms: number | null
  }
  forgotten: { session_hash: string; turn_hash: string; at_ms: number }
  session_edges: {
    session_id: string
    kind: string
    parent_platform: string
    parent_native_id: string
    at_ms: number
  }
  runs: {
    session_id: string
    host: string
    pid: number
    pane: string | null
    start: string
    started_at_ms: number
    seen_at_ms: number
    ended_at_ms: number | null
    end_reason: string | null
  }
  bindings: {
    caller_key: string
    root_uri: string | null
    session_id: string | null
    updated_at_ms: number
    is_own: Generated<number>
  }
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
    fingerprint: string | null
    session_id: string | null
    rung: string | null
    fetch_key: string | null
    created_at_ms: number
    settled_at_ms: number | null
  }
  routes: {
    session_id: string
    host: string
    pid: number
    process_start: string
    /** The address in JSON; null where the process runs in no pane. */
    pane: string | null
    seen_at_ms: number
  }
  posts: {
    team: string
    host: string
    session_id: string | null
    native_id: string | null
    pid: number
    process_start: string | null
    since_ms: number
    gone_at_ms: number | null
    cause: string | null
    is_told: number
    is_kept: number
  }
  updates: {
    seq: GeneratedAlways<number>
    team: string
    key: string
    type: string
    message_id: string | null
    session_id: string | null
    turn_seq: number | null
    data: string
    at_ms: number
  }
  task_states: {
    project_id: string
    native_session_id: string
    current_task: string | null
    current_task_id: string | null
    last_completed_step: string | null
    is_step_number: Generated<number>
    pending_messages: string
    updated_at_ms: number
  }
  pairs: {
    id: string
    from_team: string
    to_team: string
    thread_id: string
    platform: string
    native_id: string | null
    is_made: number
    made_at_ms: number | null
    status: string
    message_count: number
    created_at_ms: number
    last_used_at_ms: number
  }
  pair_sessions: { pair_id: string; native_id: string; since_ms: number; why: string }
  answers: {
    message_id: string
    pair_id: string
    native_id: string | null
    text: string
    is_context_new: number
    duration_ms: number
    input_tokens: number
    output_tokens: number
    cost_usd: number | null
    at_ms: number
  }
  permissions: {
    id: string
    home: string
    asker: string
    team: string | null
    session_id: string | null
    tool: string
    title: string
    input: string
    suggestions: string
    state: string
    always: number | null
    reason: string | null
    answered_by: string | null
    waiter: string
    questions: string
    answers: string
    taken_at_ms: number | null
    asked_at_ms: number
    answered_at_ms: number | null
    expires_at_ms: number
  }
  audit: { seq: GeneratedAlways<number>; at_ms: number; who: string; what: string; data: string }
  topics: {
    id: string
    channel: string
    home: string
    chat_id: string
    thread_id: number | null
    shared_thread_id: number | null
    session_id: string | null
    name: string
    state: string
    verbosity: string
    is_muted: number
    making_at_ms: number | null
    doubts: number
    trail: string | null
    created_at_ms: number
    used_at_ms: number
  }
  topic_messages: { channel: string; chat_id: string; message_id: number; topic_id: string; at_ms: number }
  chat_moves: { channel: string; from_chat_id: string; to_chat_id: string }
  bots: { id: string; next_offset: number | null; state: string; why: string | null; since_ms: number }
  people: { channel: string; user_id: string; name: string; chat_id: string | null; paired_at_ms: number }
  team_people: { channel: string; user_id: string; team: string; name: string; paired_at_ms: number }
  budgets: { key: string; sent_at_ms: string; blocked_until_ms: number }
  wait_notices: {
    id: string
    channel: string
    session_id: string
    topic_id: string
    first_seq: number
    last_seq: number
    words: string
    after_ms: number | null
    can_resume: number
    message_id: number | null
    since_ms: number
    ended_at_ms: number | null
  }
  cards: { permission_id: string; channel: string; chat_id: string; thread_id: number | null; message_id: number }
  holds: { key: string; kind: string; why: string; since_ms: number; next_at_ms: number }
  roles: { name: string; owner: string; until_ms: number }
}
