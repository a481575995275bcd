import { readFile, stat } from "node:fs/promises"
import { posix, win32 } from "node:path"
import type { Capture, LineageKind, SessionCapture, TitleSource, TurnCapture } from "../../domain/capture.ts"
import type { Claim, LinesReader, Platform, WholeReader } from "../../domain/platform.ts"
import type { TurnKind, Usage } from "../../domain/turn.ts"
import { asArray, asNumber, asObject, asString, type Json, parseLine, peekString } from "./shared/jsonl.ts"
import { digest, timeOf, titleOf, wellFormed } from "./shared/text.ts"

export const claudeCode: Platform = {
  id: "claude-code",
  label: "Claude Code",
  can: { hooks: true, resume: true, times: true },
  places(machine) {
    const { join, isAbsolute } = machine.os === "win32" ? win32 : posix
    const { CLAUDE_CONFIG_DIR: named = "", XDG_CONFIG_HOME: xdg } = machine.env
    const homes = [
      ...named.split(",").map((dir) => dir.trim()),
      join(machine.homeDir, ".claude"),
      join(xdg || join(machine.homeDir, ".config"), "claude"),
    ].filter((dir) => isAbsolute(dir))
    return [...new Set(homes)].flatMap((dir) => [
      { dir: join(dir, "projects"), depth: 8 },
      { dir, depth: 0 },
    ])
  },
  claim({ path, relative }): Claim | undefined {
    if (relative === "history.jsonl") return { key: path, reader: typedPrompts }
    const { session, agent, neighbour, output } = LAYOUT.exec(relative)?.groups ?? {}
    if (output) return { key: path, reader: savedOutput(neighbour!, output) }
    if (agent) return { key: path, reader: transcript({ sessionId: neighbour, agentId: agent }) }
    return session ? { key: path, reader: transcript({ sessionId: session, agentId: undefined }) } : undefined
  },
  resume: ({ nativeId, projectPath }) => ({
    argv: ["claude", "--resume", nativeId.split("/")[0]!],
    cwd: projectPath,
  }),
}

const LAYOUT = (() => {
  const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
  const agent = "agent-(?<agent>[^/]+)\\.jsonl"
  const below = `(?<neighbour>${uuid})/(?:subagents/(?:.+/)?${agent}|tool-results/(?<output>[^/]+))`
  return new RegExp(`^[^/]+/(?:(?<session>${uuid})\\.jsonl|${agent.replace("<agent>", "<agent>")}|${below})$`, "i")
})()

interface Origin {
  sessionId: string | undefined
  agentId: string | undefined
}

type State = {
  sessions: Record<string, Known>
  /** Titles that came before the first turn: a file may hold nothing else, and then there is no session. */
  waiting: SessionCapture[]
  message?: { id: string; counted: Usage }
}
type Known = Partial<Pick<SessionCapture, "projectPath" | "gitBranch" | "agentVersion" | "model">> & {
  parentId?: string
  titled?: boolean
}

/** From where on looking for the type in the first bytes is cheaper than parsing. */
const PEEK_FROM = 4096
const QUEUED = Buffer.from('"queued_command"')
const TITLES: Record<string, { field: string; from: TitleSource }> = {
  summary: { field: "summary", from: "summary" },
  "ai-title": { field: "aiTitle", from: "generated" },
  "custom-title": { field: "customTitle", from: "person" },
}
const SIDE_DATA = new Set(
  `attachment progress queue-operation file-history-snapshot file-history-delta attribution-snapshot content-replacement
  mode permission-mode memory-mode repl-mode dev-mods last-prompt tools-used cost-state atis-latch isolation-latch tag
  agent-name agent-color agent-setting pr-link worktree-state bridge-session session-owner history-suppression frame-link
  observer-ref continued-in resume-head-vouch fork-context-ref ended-by-model data-flow-records data-flow-incomplete
  artifact-comment-monitor artifact-autoreact-ledger`.split(/\s+/),
)
const isSideData = (type: string) => SIDE_DATA.has(type) || type.startsWith("api-request")

function transcript(origin: Origin): LinesReader {
  return {
    mode: "lines",
    begin: () => ({ sessions: {}, waiting: [] }) satisfies State,
    line(line, state) {
      const type = line.length < PEEK_FROM ? undefined : peekString(line, "type")
      if (type !== undefined && isSideData(type) && !(type === "attachment" && line.includes(QUEUED)))
        return [skipped(type)]
      return new LineReading(parseLine(line), origin, state as State).captures()
    },
  }
}

class LineReading {
  private readonly session: { sessionId: string; parentId: string | undefined }
  private readonly turns: Capture[] = []
  private readonly found: SessionCapture

  constructor(
    private readonly record: Json,
    origin: Origin,
    private readonly state: State,
  ) {}
}
