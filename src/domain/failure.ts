/** Every way a request can fail that is not a bug. The code decides status, exit code, retry and help; docs/failures.md lists them all. */
export const failures = {
  bad_input: { http: 400, exit: 2, retry: false, help: "Correct the named parameter and call again." },
  unknown_operation: { http: 404, exit: 2, retry: false, help: "`throughline --help` lists what can be asked." },
  unauthorized: {
    http: 401,
    exit: 4,
    retry: false,
    help: "Send the token of the file `token` in Throughline's home as a bearer token.",
  },
  forbidden: { http: 403, exit: 4, retry: false, help: "Call from this machine, with a local Host and Origin." },
  too_large: { http: 413, exit: 2, retry: false, help: "Send less at once, or split it." },
  session_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "`throughline sessions` or init list_sessions shows what there is.",
  },
  session_ambiguous: { http: 409, exit: 3, retry: false, help: "Give more of Throughline's own id." },
  session_needed: {
    http: 400,
    exit: 2,
    retry: false,
    help: "Call init with start_new or load_context and pass the sessionId that it returns.",
  },
  cannot_resume: {
    http: 409,
    exit: 3,
    retry: false,
    help: "`throughline handoff <session> --to <agent>` lets another agent go on with it.",
  },
  message_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "Give the id that send_message or teams_ask answered with.",
  },
  permission_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "`throughline permissions` lists what waits for an answer.",
  },
  person_needed: {
    http: 403,
    exit: 4,
    retry: false,
    help: "A person does this, in a terminal that no agent has started or at the dashboard (`throughline dashboard`): no agent decides what an agent may do.",
  },
  not_allowed: {
    http: 403,
    exit: 4,
    retry: false,
    help: "The token alone is not enough: call it as an agent, over MCP, or as the owner, at a terminal or the dashboard.",
  },
  thought_not_found: { http: 404, exit: 3, retry: false, help: "init load_context lists the thoughts of the session." },
  root_not_found: { http: 404, exit: 3, retry: false, help: "Give the path of a folder that exists on this machine." },
  root_invalid: { http: 400, exit: 2, retry: false, help: "Give an absolute path or a file:// URI." },
  root_unknown: {
    http: 400,
    exit: 2,
    retry: false,
    help: "Pass sessionId, or mcpRootUri, or call init with bind_root.",
  },
  root_needed: {
    http: 428,
    exit: 2,
    retry: true,
    help: "The client is asked for its roots and the call is made again.",
  },
  project_excluded: {
    http: 403,
    exit: 4,
    retry: false,
    help: "The setting capture.exclude names this folder: take it out if conversations there are to be kept.",
  },
  config_invalid: {
    http: 500,
    exit: 2,
    retry: false,
    help: "`throughline config` shows what is in force and where it comes from.",
  },
  setup_file_malformed: {
    http: 422,
    exit: 2,
    retry: false,
    help: "Correct the file at the named place and run it again; it was left as it is.",
  },
  file_refused: {
    http: 422,
    exit: 4,
    retry: false,
    help: "Replace the named path with a regular file of your own, of a reasonable size and without links on the way.",
  },
  home_unsafe: {
    http: 500,
    exit: 4,
    retry: false,
    help: "Do what the message says, so that nobody but you can write to the data directory, and start again.",
  },
  dependency_missing: { http: 500, exit: 6, retry: false, help: "Install the named package and start again." },
  agent_missing: {
    http: 500,
    exit: 6,
    retry: false,
    help: "Install the agent, or see that its program is on the PATH that the daemon was started with.",
  },
  agent_failed: {
    http: 502,
    exit: 6,
    retry: true,
    help: "The message has the agent's own words; start it by hand in the same folder to see more.",
  },
  agent_busy: { http: 409, exit: 3, retry: true, help: "Wait for the turn that runs to end, or cancel it." },
  pair_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "teams_status, or `throughline teams threads`, shows which teams have spoken, and in which threads.",
  },
  ask_loop: {
    http: 409,
    exit: 3,
    retry: false,
    help: "Answer with what you know: the team that you want to ask waits for this very answer.",
  },
  channel_off: {
    http: 409,
    exit: 3,
    retry: false,
    help: "`throughline telegram setup` asks for what is missing.",
  },
  channel_failed: {
    http: 502,
    exit: 6,
    retry: true,
    help: "The message has Telegram's own words; `throughline doctor` says how to mend it.",
  },
  service_failed: {
    http: 500,
    exit: 6,
    retry: false,
    help: "The message has the words of systemd or launchd; run the named command by hand to see more.",
  },
  daemon_unreachable: {
    http: 503,
    exit: 5,
    retry: true,
    help: "`throughline doctor` says what is wrong; `throughline logs` shows why.",
  },
  daemon_hung: {
    http: 503,
    exit: 5,
    retry: true,
    help: "`throughline stop --force` ends it after checking that the process is ours.",
  },
  store_busy: { http: 503, exit: 5, retry: true, help: "Another program holds the database; it is tried again." },
  store_full: {
    http: 507,
    exit: 7,
    retry: false,
    help: "Free some disk space; nothing that was acknowledged is lost.",
  },
  store_failing: {
    http: 507,
    exit: 7,
    retry: false,
    help: "Check the disk and the rights on the database's folder; nothing that was acknowledged is lost.",
  },
  store_readonly: {
    http: 507,
    exit: 7,
    retry: false,
    help: "Make the database file and its folder writable for your user.",
  },
  store_corrupt: {
    http: 500,
    exit: 7,
    retry: false,
    help: "Restart the daemon: it keeps the damaged file aside and begins a new one.",
  },
  store_newer: {
    http: 500,
    exit: 7,
    retry: false,
    help: "The database was written by a newer Throughline: install that version.",
  },
  store_unreachable: { http: 503, exit: 7, retry: true, help: "Check database.url and that the server answers." },
  index_unusable: {
    http: 503,
    exit: 7,
    retry: true,
    help: "Move the named file away: the index is made anew from the archive, and nothing is lost by it.",
  },
  embedder_unreachable: {
    http: 503,
    exit: 5,
    retry: true,
    help: "Check that the named endpoint answers; searches go on by words, and it is tried again.",
  },
  embedder_refused: {
    http: 502,
    exit: 6,
    retry: false,
    help: "Correct the model, the key or the dimensions in the setting `embedder`; searches go on by words.",
  },
  terminal_failing: {
    http: 503,
    exit: 6,
    retry: true,
    help: "Check that tmux answers on the named socket: `tmux -S <socket> list-panes -a`.",
  },
  agent_unreachable: {
    http: 503,
    exit: 5,
    retry: true,
    help: "Check that the agent runs and answers; what was for it is kept.",
  },
  agent_refused: {
    http: 502,
    exit: 6,
    retry: false,
    help: "The message has the agent's own words; its other ways in are tried.",
  },
  unsupported_system: {
    http: 501,
    exit: 6,
    retry: false,
    help: "Throughline runs on Linux and macOS; on Windows, run it inside WSL.",
  },
  internal: { http: 500, exit: 1, retry: false, help: "This is a bug. `throughline logs` has the details." },
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof failures

interface FailureKind {
  http: number
  exit: number
  retry: boolean
  help: string
}

/** What a failure looks like on the wire and in `--json`. */
export interface FailureBody {
  code: FailureCode
  message: string
  help: string
  data?: Record<string, unknown>
}

export class Failure extends Error {
  readonly code: FailureCode
  readonly data: Record<string, unknown>

  constructor(code: FailureCode, message: string, data: Record<string, unknown> = {}, options?: { cause?: unknown }) {
    super(message, options)
    this.name = "Failure"
    this.code = code
    this.data = data
  }

  get kind(): FailureKind {
    return failures[this.code]
  }

  toJSON(): FailureBody {
    const body: FailureBody = { code: this.code, message: this.message, help: this.kind.help }
    return Object.keys(this.data).length > 0 ? { ...body, data: this.data } : body
  }

  /** A code that this version does not know comes from a newer one, and is `internal` here. */
  static fromBody(body: Partial<FailureBody>): Failure {
    const code = body.code !== undefined && body.code in failures ? body.code : "internal"
    return new Failure(code, body.message ?? "no message", body.data ?? {})
  }

  /** Anything that is not a Failure is a bug: it keeps its cause and is shown as `internal`. */
  static from(error: unknown): Failure {
    if (error instanceof Failure) return error
    const message = error instanceof Error ? error.message : String(error)
    return new Failure("internal", message, {}, { cause: error })
  }
}
