import { existsSync, mkdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Caller } from "../../domain/caller.ts"
import type { ArchiveRules, Capture } from "../../domain/capture.ts"
import { Failure } from "../../domain/failure.ts"
import { exchangeKey, scopedId } from "../../domain/ids.ts"
import type { Machine, Platform } from "../../domain/platform.ts"
import type { ProjectFinder } from "../../domain/project.ts"
import { redactInside, refuseSecret } from "../../domain/redact.ts"
import { UNREAD } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { appendText, checkWritable, createFile, makeFolder } from "../../lib/untrusted-write.ts"
import { type HandLogged, twinOf } from "../read/twins.ts"
import type { Archive } from "./archive.ts"
import type { Capturing } from "./capturing.ts"

export interface PushedExchange {
  user: string
  ai: string
  sessionId: string
  atMs?: number | undefined
  metadata?: Record<string, unknown> | undefined
}

export type Push = ReturnType<typeof makePush>

export interface Logged {
  isNew: boolean
  exchangeId: string
  exchangeCount: number
  /** Absent if it was captured from the agent's own files. */
  logFile?: string
  /** The agent from whose files it was captured. */
  readFrom?: string
}

/** The platform that reads the log; agents may also write its files themselves. */
const PLATFORM = "conversation-log"

interface Deps {
  store: Store
  clock: Clock
  projects: ProjectFinder
  machine: Machine
  rules: ArchiveRules
  capturing: Capturing
  archive: Pick<Archive, "keep">
  platforms: readonly Platform[]
  platformOf(caller: Caller): Promise<string | undefined>
}

export function makePush(deps: Deps) {
  const { store, clock, projects, machine, rules, capturing } = deps
  const folderFor = async (caller: Caller) => {
    const root = await projects.ofCaller(caller)
    const project = root && (await projects.ensure(root.uri))
    const dir = project ? fileURLToPath(project.rootUri) : undefined
    if (dir !== undefined && rules.excluded(dir)) {
      throw new Failure("project_excluded", `${dir} is excluded`, { path: dir })
    }
    return dir !== undefined && existsSync(dir)
      ? { folder: join(dir, ".throughline", "conversations"), projectPath: dir, rootUri: project!.rootUri }
      : { folder: join(machine.homeDir, ".throughline", "conversations"), projectPath: null, rootUri: undefined }
  }
  /** The same exchange in the agent's own files; reads them if needed. */
  const ownTwin = async (logged: HandLogged): Promise<Logged | undefined> => {
    const found = async () => (await store.sources.summaries()).some((one) => one.platform === logged.platform)
    if (!capturing.progress().importing && (await found()) && !(await twinOf(store, logged)))
      await capturing.sync(logged.platform)
    const twin = await twinOf(store, logged)
    if (!twin) return undefined
    const { exchange, session } = twin
    const label = deps.platforms.find(({ id }) => id === logged.platform)?.label ?? logged.platform
    return { isNew: false, exchangeId: exchange.id, exchangeCount: session.promptCount, readFrom: label }
  }
  const kept = async (sessionId: string, key: string) => {
    const session = await store.sessions.byNative(PLATFORM, sessionId)
    const turn = session && (await store.turns.byNative(session.id, `${key}:user`))
    return turn && session ? { exchangeId: String(turn.seq), exchangeCount: session.promptCount } : undefined
  }

  return {
    /** Writes to the project's conversation log and the archive. Repeats and exchanges captured from files are duplicates. */
    async log(caller: Caller, exchange: PushedExchange): Promise<Logged> {
      const { folder, projectPath, rootUri } = await folderFor(caller)
      refuseSecret("session_id", exchange.sessionId, (text) => rules.redact(text, projectPath))
      const nativeId = rootUri === undefined ? exchange.sessionId : scopedId(exchange.sessionId, rootUri, "agent")
      // Redacted first: secrets must not reach the file, and the key has to match its contents.
      const [user, ai] = [rules.redact(exchange.user, projectPath), rules.redact(exchange.ai, projectPath)]
      const key = exchangeKey(user, ai)
      const logFile = join(folder, `session-${exchange.sessionId.replaceAll(/[^A-Za-z0-9._-]/g, "_")}.jsonl`)
      const before = await kept(nativeId, key)
      if (before) return { isNew: false, logFile, ...before }
      const atMs = Math.min(exchange.atMs ?? Infinity, clock.nowMs())
      const platform = await deps.platformOf(caller)
      const project = rootUri === undefined ? undefined : await store.projects.byRoot(rootUri)
      const own = platform && (await ownTwin({ platform, projectId: project?.id ?? null, user, ai, atMs }))
      if (own) return own
      // Whoever wrote the repository could have put links there, to have us write elsewhere.
      const within = projectPath ?? join(machine.homeDir, ".throughline")
      checkWritable(logFile, { within })
      prepare(folder, within)
      const record = {
        type: "exchange",
        v: 1,
        timestamp: new Date(atMs).toISOString(),
        user,
        ai,
        session_id: exchange.sessionId,
        metadata: exchange.metadata && redactInside(exchange.metadata, (text) => rules.redact(text, projectPath)),
      }
      const line = `${JSON.stringify(record)}\n`
      // Stored directly first: anyone can write the repository's file, so it cannot prove that an agent said this.
      if (rootUri !== undefined) await keepOwn(deps, { line, logFile, rootUri })
      appendText(logFile, line, { within })
      await capturing.readNow(PLATFORM, logFile, within)
      if (platform !== undefined) await noteLogger(store, nativeId, platform)
      const after = await kept(nativeId, key)
      return { isNew: true, logFile, exchangeId: after?.exchangeId ?? "", exchangeCount: after?.exchangeCount ?? 0 }
    },
  }
}

/** Lets the exchange be dropped once the agent's own files have it. */
async function noteLogger(store: Store, nativeId: string, platform: string): Promise<void> {
  const session = await store.sessions.byNative(PLATFORM, nativeId)
  if (session && platform !== PLATFORM) await store.sessions.noteLogger(session.id, platform)
}

/** Stores the exchange as the agent's own word. */
async function keepOwn(
  { archive, platforms, clock }: Deps,
  { line, logFile, rootUri }: { line: string; logFile: string; rootUri: string },
): Promise<void> {
  const platform = platforms.find(({ id }) => id === PLATFORM)
  const place = { dir: dirname(logFile), depth: 0 }
  const reader = platform?.claim({ path: logFile, relative: basename(logFile), place })?.reader
  const captures: Capture[] =
    reader?.mode === "lines" ? reader.line(Buffer.from(line), reader.begin(logFile), { offset: 0 }) : []
  const nowMs = clock.nowMs()
  const named = { platform: PLATFORM, key: `logged:${place.dir}`, path: place.dir, mode: "lines" as const }
  const source = { ...UNREAD, ...named, mtimeMs: nowMs, readAtMs: nowMs }
  await archive.keep({ captures, source, isRedacted: true, loggedIn: rootUri })
}

function prepare(folder: string, within: string): void {
  mkdirSync(within, { recursive: true, mode: 0o700 })
  makeFolder(folder, { within })
  createFile(join(folder, "README.md"), README, { within, mode: 0o644 })
  createFile(join(folder, ".gitignore"), "*\n", { within, mode: 0o644 })
}

const README = `# Conversations of agents in this project

Throughline reads every \`*.jsonl\` file here as it grows. One JSON object per line, UTF-8, version 1:

    {"type":"exchange","timestamp":"2026-01-31T12:00:00Z","user":"…","ai":"…","session_id":"abc","metadata":{"tags":["…"]}}
    {"type":"context_reset","timestamp":"…","reason":"context_limit","session_id":"abc"}
    {"type":"session_resume","timestamp":"…","previous_session":"abc","new_session":"def"}

Agents with Throughline's MCP tools call \`log_conversation_exchange\`; others may append lines themselves. Nothing here
is committed (see .gitignore). Deleting a file does not delete what was kept: \`throughline forget\` does.
`
