import { existsSync } from "node:fs"
import { mkdir, open, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Caller } from "../../domain/caller.ts"
import type { Clock } from "../../domain/clock.ts"
import { Failure } from "../../domain/failure.ts"
import { exchangeKey } from "../../domain/ids.ts"
import type { Machine } from "../../domain/platform.ts"
import type { Store } from "../../domain/store.ts"
import type { ProjectFinder } from "../projects.ts"
import type { ArchiveRules } from "./archive.ts"
import type { Capturing } from "./capturing.ts"

export interface PushedExchange {
  user: string
  ai: string
  sessionId: string
  atMs?: number | undefined
  metadata?: Record<string, unknown> | undefined
}

export interface Push {
  /** Written to the project's conversation log, and from there into the archive; the same words again are a duplicate. */
  log(
    caller: Caller,
    exchange: PushedExchange,
  ): Promise<{ isNew: boolean; exchangeId: string; logFile: string; exchangeCount: number }>
}

/** The platform that reads the log; its files are the contract for agents that write them by themselves. */
const PLATFORM = "conversation-log"

interface Deps {
  store: Store
  clock: Clock
  projects: ProjectFinder
  machine: Machine
  rules: ArchiveRules
  capturing: Capturing
}

export function makePush({ store, clock, projects, machine, rules, capturing }: Deps): Push {
  const folderFor = async (caller: Caller) => {
    const root = await projects.ofCaller(caller)
    const project = root && (await projects.ensure(root.uri))
    const dir = project ? fileURLToPath(project.rootUri) : undefined
    if (dir !== undefined && rules.excluded(dir)) {
      throw new Failure("project_excluded", `nothing is kept of ${dir}`, { path: dir })
    }
    return dir !== undefined && existsSync(dir)
      ? { folder: join(dir, ".throughline", "conversations"), projectPath: dir }
      : { folder: join(machine.homeDir, ".throughline", "conversations"), projectPath: null }
  }
  const kept = async (sessionId: string, key: string) => {
    const session = await store.sessions.byNative(PLATFORM, sessionId)
    const turn = session && (await store.turns.byNative(session.id, `${key}:user`))
    return turn && session ? { exchangeId: String(turn.seq), exchangeCount: session.promptCount } : undefined
  }

  return {
    async log(caller, exchange) {
      const { folder, projectPath } = await folderFor(caller)
      // Secrets must not reach the file either, and the key is that of what the file holds.
      const [user, ai] = [rules.redact(exchange.user, projectPath), rules.redact(exchange.ai, projectPath)]
      const key = exchangeKey(user, ai)
      const logFile = join(folder, `session-${exchange.sessionId.replaceAll(/[^A-Za-z0-9._-]/g, "_")}.jsonl`)
      const before = await kept(exchange.sessionId, key)
      if (before) return { isNew: false, logFile, ...before }
      await prepare(folder)
      const record = {
        type: "exchange",
        v: 1,
        timestamp: new Date(exchange.atMs ?? clock.nowMs()).toISOString(),
        user,
        ai,
        session_id: exchange.sessionId,
        ...(exchange.metadata === undefined ? {} : { metadata: exchange.metadata }),
      }
      await append(logFile, `${JSON.stringify(record)}\n`)
      await capturing.readNow(PLATFORM, logFile)
      const after = await kept(exchange.sessionId, key)
      return { isNew: true, logFile, exchangeId: after?.exchangeId ?? "", exchangeCount: after?.exchangeCount ?? 0 }
    },
  }
}

/** On the disk before it is acknowledged. */
async function append(path: string, line: string): Promise<void> {
  const file = await open(path, "a", 0o600)
  try {
    await file.appendFile(line)
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeOnce(join(folder, "README.md"), README)
  await writeOnce(join(folder, ".gitignore"), "*\n")
}

async function writeOnce(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx" })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

const README = `# Conversations of agents in this project

Throughline reads every \`*.jsonl\` file here as it grows. One JSON object per line, UTF-8, version 1:

    {"type":"exchange","timestamp":"2026-01-31T12:00:00Z","user":"…","ai":"…","session_id":"abc"}
    {"type":"context_reset","timestamp":"…","reason":"context_limit","session_id":"abc"}
    {"type":"session_resume","timestamp":"…","previous_session":"abc","new_session":"def"}

Agents with Throughline's MCP tools call \`log_conversation_exchange\`; others may append lines themselves. Nothing here
is committed (see .gitignore). Deleting a file does not delete what was kept: \`throughline forget\` does.
`
