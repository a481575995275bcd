/** Every way a request can fail that is not a bug. The code decides status, exit code, retry and help; docs/failures.md lists them all. */
export const failures = {
  bad_input: {
    http: 400,
    exit: 2,
    retry: false,
    help: "Correct the named parameter. On the command line, --help shows what a command takes.",
  },
  unknown_operation: { http: 404, exit: 2, retry: false, help: "`throughline --help` lists every command." },
  unauthorized: {
    http: 401,
    exit: 4,
    retry: false,
    help: "Send the token from the file `token` in the data directory as a bearer token.",
  },
  forbidden: { http: 403, exit: 4, retry: false, help: "Call from this machine, with a local Host and Origin header." },
  too_large: { http: 413, exit: 2, retry: false, help: "Split the request." },
  session_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "List sessions with `throughline sessions`.",
  },
  session_ambiguous: { http: 409, exit: 3, retry: false, help: "Use more of Throughline's own id." },
  session_needed: {
    http: 400,
    exit: 2,
    retry: false,
    help: "Call init with start_new or load_context and pass the sessionId it returns.",
  },
  cannot_resume: {
    http: 409,
    exit: 3,
    retry: false,
    help: "Continue in another agent: `throughline handoff <session> --to <agent>`.",
  },
  message_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "Use the id that send_message or teams_ask returned.",
  },
  permission_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "List pending requests with `throughline permissions`.",
  },
  person_needed: {
    http: 403,
    exit: 4,
    retry: false,
    help: "Only a person can do this, in a terminal that no agent started or in the dashboard (`throughline dashboard`): agents do not decide what agents may do.",
  },
  not_allowed: {
    http: 403,
    exit: 4,
    retry: false,
    help: "The token alone is not enough: call it as an agent over MCP, or as the owner in a terminal or the dashboard.",
  },
  thought_not_found: { http: 404, exit: 3, retry: false, help: "init load_context lists the thoughts of the session." },
  root_not_found: { http: 404, exit: 3, retry: false, help: "Use the path of a folder that exists on this machine." },
  root_invalid: { http: 400, exit: 2, retry: false, help: "Use an absolute path or a file:// URI." },
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
    help: "The client is asked for its roots and the call is repeated.",
  },
  project_excluded: {
    http: 403,
    exit: 4,
    retry: false,
    help: "The setting capture.exclude lists this folder: remove it to store conversations from there.",
  },
  config_invalid: {
    http: 500,
    exit: 2,
    retry: false,
    help: "`throughline config` shows the effective settings and where they come from.",
  },
  setup_file_malformed: {
    http: 422,
    exit: 2,
    retry: false,
    help: "Fix the file at the named place and try again; it was not changed.",
  },
  file_refused: {
    http: 422,
    exit: 4,
    retry: false,
    help: "Replace the named path with a regular file of your own, of a reasonable size and without symlinks in its path.",
  },
  home_unsafe: {
    http: 500,
    exit: 4,
    retry: false,
    help: "Do what the message says, so that only you can write to the data directory, and start again.",
  },
  dependency_missing: { http: 500, exit: 6, retry: false, help: "Install the named package and start again." },
  agent_missing: {
    http: 500,
    exit: 6,
    retry: false,
    help: "Install the agent, or make sure its program is on the daemon's PATH.",
  },
  agent_failed: {
    http: 502,
    exit: 6,
    retry: true,
    help: "The message is the agent's own; start it by hand in the same folder to see more.",
  },
  agent_busy: { http: 409, exit: 3, retry: true, help: "Wait for the current turn to end, or cancel it." },
  pair_not_found: {
    http: 404,
    exit: 3,
    retry: false,
    help: "List the pairs and their threads with `throughline teams threads`, or teams_status.",
  },
  ask_loop: {
    http: 409,
    exit: 3,
    retry: false,
    help: "Answer with what you know: the team you want to ask is waiting for this answer.",
  },
  channel_off: {
    http: 409,
    exit: 3,
    retry: false,
    help: "Run `throughline telegram setup`.",
  },
  channel_failed: {
    http: 502,
    exit: 6,
    retry: true,
    help: "The message is Telegram's own; `throughline doctor` suggests a fix.",
  },
  service_failed: {
    http: 500,
    exit: 6,
    retry: false,
    help: "The message is from systemd or launchd; run the named command by hand to see more.",
  },
  daemon_unreachable: {
    http: 503,
    exit: 5,
    retry: true,
    help: "`throughline doctor` checks for problems; `throughline logs` shows the log.",
  },
  daemon_hung: {
    http: 503,
    exit: 5,
    retry: true,
    help: "`throughline stop --force` kills it after verifying that it is Throughline's.",
  },
  store_busy: {
    http: 503,
    exit: 5,
    retry: true,
    help: "Another program has locked the database; the call is retried.",
  },
  store_full: {
    http: 507,
    exit: 7,
    retry: false,
    help: "Free some disk space; nothing acknowledged is lost.",
  },
  store_failing: {
    http: 507,
    exit: 7,
    retry: false,
    help: "Check the disk and the permissions of the database's folder; nothing acknowledged is lost.",
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
    help: "Restart the daemon: it moves the damaged file aside and starts a new one.",
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
    help: "Move the named file away: the index is rebuilt from the archive and nothing is lost.",
  },
  embedder_unreachable: {
    http: 503,
    exit: 5,
    retry: true,
    help: "Check that the named endpoint answers; until then search uses keywords only.",
  },
  embedder_refused: {
    http: 502,
    exit: 6,
    retry: false,
    help: "Correct the model, the key or the dimensions in the setting `embedder`; until then search uses keywords only.",
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
    help: "Check that the agent runs and answers; its messages stay queued.",
  },
  agent_refused: {
    http: 502,
    exit: 6,
    retry: false,
    help: "The message is the agent's own; other routes are tried.",
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
    return new Failure("internal", errorText(error), {}, { cause: error })
  }
}

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))
