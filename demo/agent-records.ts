import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { processStart } from "../src/daemon/process/process-identity.ts"
import { textTokens } from "./files.ts"

export const VERSION = "2.1.325"
export const MODEL = "demo"

/** What a mock agent writes of its session, as Claude Code does: the transcript and the registry file of its process. */
export interface Records {
  transcript: string
  isNew(): boolean
  /** The question, without the line that names the sender. */
  title(prompt: string): void
  keep(type: "user" | "assistant", uuid: string, message: object): void
  /** Takes over what another session holds. */
  forkFrom(id: string): void
  tellStatus(status: "idle" | "busy" | "waiting", waitingFor?: string): void
  end(): void
}

export function makeRecords(sessionId: string, entrypoint: "cli" | "sdk-cli"): Records {
  const cwd = process.cwd()
  const claudeDir = join(homedir(), ".claude")
  const folder = join(claudeDir, "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"))
  const pathOf = (id: string) => join(folder, `${id}.jsonl`)
  const transcript = pathOf(sessionId)
  const registry = join(claudeDir, "sessions", `${process.pid}.json`)
  const procStart = processStart(process.pid)
  let lastUuid: string | null = null
  const readLast = () => {
    if (!existsSync(transcript)) return
    lastUuid = /"uuid":"([^"]+)"(?!.*"uuid")/s.exec(readFileSync(transcript, "utf8"))?.[1] ?? null
  }
  const append = (record: object) => appendFileSync(transcript, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  mkdirSync(folder, { recursive: true })
  mkdirSync(dirname(registry), { recursive: true })
  readLast()

  return {
    transcript,
    isNew: () => lastUuid === null,
    title(prompt) {
      const aiTitle = prompt.split("\n").findLast((line) => line.trim() !== "")
      append({ type: "ai-title", aiTitle, sessionId })
    },
    keep(type, uuid, message) {
      const common = { parentUuid: lastUuid, isSidechain: false, userType: "external", entrypoint, cwd, sessionId }
      append({ ...common, version: VERSION, timestamp: new Date().toISOString(), type, uuid, message })
      lastUuid = uuid
    },
    forkFrom(id) {
      if (!existsSync(pathOf(id))) return
      const copied = readFileSync(pathOf(id), "utf8").replaceAll(`"sessionId":"${id}"`, `"sessionId":"${sessionId}"`)
      writeFileSync(transcript, copied, { mode: 0o600 })
      readLast()
    },
    tellStatus(status, waitingFor) {
      const about = { pid: process.pid, procStart, sessionId, cwd, kind: "interactive", entrypoint, version: VERSION }
      const now = { status, statusUpdatedAt: Date.now(), ...(waitingFor !== undefined && { waitingFor }) }
      writeFileSync(registry, JSON.stringify({ ...about, ...now }), { mode: 0o600 })
    },
    end: () => rmSync(registry, { force: true }),
  }
}

export const usageOf = (prompt: string, answer: string) => ({
  input_tokens: textTokens(prompt) + 8,
  cache_creation_input_tokens: 320,
  cache_read_input_tokens: 14_200,
  output_tokens: textTokens(answer) + 20,
})
