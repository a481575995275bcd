import { chmodSync, existsSync, renameSync, statSync } from "node:fs"
import { type Logger, pino } from "pino"
import type { Home } from "./home.ts"

export type Log = Logger
/** A log with its file. */
export type FileLog = Log & { reopen(): void }

const ROTATE_AT_BYTES = 20 * 1024 * 1024

/** JSON lines to a file, never to stdout: the MCP protocol speaks there. */
export function openLog(home: Home, level: string, redact: (line: string) => string = (line) => line): FileLog {
  if (existsSync(home.log) && statSync(home.log).size > ROTATE_AT_BYTES) renameSync(home.log, `${home.log}.1`)
  const destination = pino.destination({ dest: home.log, append: true, mkdir: true, sync: true })
  // A full disk loses log lines, not the daemon.
  destination.on("error", () => {})
  chmodSync(home.log, 0o600)
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      // Failures quote their input.
      hooks: { streamWrite: redact },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: ["token", "url", "*.token", "*.url", "authorization", "*.authorization"], censor: "***" },
    },
    destination,
  )
  return Object.assign(log, { reopen: () => destination.reopen() })
}
