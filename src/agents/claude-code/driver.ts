import { randomUUID } from "node:crypto"
import type { DrivenSession, DriveOptions, Driver, PromptOptions, TurnEnd } from "../../domain/driver.ts"
import { Failure } from "../../domain/failure.ts"
import { promptUuid } from "../../domain/ids.ts"
import { sleep, within } from "../../lib/clock.ts"
import { type LineProcess, startLines } from "../shared/driver/lines.ts"
import { childEnv, memoryOf } from "../shared/driver/processes.ts"
import { COMMON, notStartedInTime, SERVER_MS, START_MS } from "../shared/driver/start.ts"
import { permission, turns } from "../shared/driver/turn.ts"
import { claudeTurnReader, failureOf, type StreamLine } from "./driver-stream.ts"
import { answersTo, decisionOf, permissionRequest, type Suggestion } from "./permission.ts"

interface ControlRequest {
  request_id: string
  request: { subtype: string }
}

/** Claude Code's request, with the rules that it suggests. */
interface CanUseTool {
  tool_name: string
  description?: string
  input: Record<string, unknown>
  permission_suggestions?: Suggestion[]
}

/** Claude Code in print mode, which reads prompts and control requests as JSON lines. One process per session. */
export const createClaudeCodeDriver = (): Driver => ({
  platform: "claude-code",
  can: { ...COMMON, chooseId: true, updatedInput: true, denyReason: true, settings: true, shared: false },
  start,
  close: async () => {},
})

async function start(options: DriveOptions): Promise<DrivenSession> {
  const { session } = options
  const nativeId = session.kind === "fork" ? session.as : session.id
  const running = turns()
  const reader = claudeTurnReader(running)
  const calls = new Map<string, (line: StreamLine) => void>()
  const questions = new Map<string, AbortController>()
  let beforeReady: string | undefined

  const lines: LineProcess = await startLines({
    command: options.program ?? "claude",
    args: argv(options),
    cwd: options.projectDir,
    env: childEnv(options.machine),
    onLine(raw) {
      const line = raw as StreamLine
      if (line.type === "control_response") calls.get(line.response?.request_id ?? "")?.(line)
      else if (line.type === "control_request") void answer(line as ControlRequest)
      else if (line.type === "control_cancel_request") questions.get(line.request_id ?? "")?.abort()
      else {
        if (line.type === "result" && line.is_error) beforeReady ??= failureOf(line)
        // An interrupt sent before the turn has begun is lost: repeat it.
        if (reader.read(line) === "begun" && running.running?.isCancelled) void control("interrupt")
      }
    },
  })
  void lines.gone.then((reason) => running.lost(reason))

  const control = (subtype: string): Promise<StreamLine> => {
    const request_id = randomUUID()
    const { promise, resolve } = Promise.withResolvers<StreamLine>()
    calls.set(request_id, resolve)
    lines.send({ type: "control_request", request_id, request: { subtype } })
    return promise.finally(() => calls.delete(request_id))
  }

  const answer = async ({ request_id, request }: ControlRequest) => {
    const respond = (response: object) =>
      lines.send({ type: "control_response", response: { request_id, ...response } })
    const turn = running.running
    if (request.subtype !== "can_use_tool" || !turn) {
      respond({ subtype: "error", error: `${request.subtype} is not served here` })
      return
    }
    const asked = new AbortController()
    questions.set(request_id, asked)
    const signal = AbortSignal.any([asked.signal, turn.over])
    const { tool_name, input, description, permission_suggestions } = request as unknown as CanUseTool
    const question = permissionRequest(tool_name, input, description, permission_suggestions)
    const word = await permission(options, question, signal)
    questions.delete(request_id)
    if (signal.aborted) return
    respond({ subtype: "success", response: decisionOf(word, permission_suggestions, answersTo(input, word) ?? input) })
  }

  const prompt = async (message: { id: string; text: string }, { onEvent }: PromptOptions): Promise<TurnEnd> => {
    const { end } = running.begin({ onEvent })
    const uuid = promptUuid(message.id)
    reader.sent(message.text.startsWith("/") ? null : uuid)
    lines.send({ type: "user", uuid, session_id: nativeId, message: { role: "user", content: message.text } })
    return end
  }

  const ready = await within(START_MS, Promise.race([control("initialize"), lines.gone]))
  if (typeof ready !== "object" || ready.response?.subtype !== "success") {
    const why = typeof ready === "string" ? ready : (ready?.response?.error ?? notStartedInTime)
    await lines.close()
    throw new Failure(session.kind === "new" ? "agent_failed" : "cannot_resume", beforeReady ?? why, {
      nativeId: session.id,
    })
  }
  if (options.mcp) await serverReady(() => Promise.race([control("mcp_status"), lines.gone]))
  return {
    nativeId,
    pid: lines.pid,
    prompt,
    async cancel() {
      if (!running.running) return
      running.running.cancel()
      await Promise.race([control("interrupt"), lines.gone])
    },
    compact: () => prompt({ id: randomUUID(), text: "/compact" }, { onEvent: () => {} }),
    // Any answer shows that it reads its input.
    ping: async () => void (await control("mcp_status")),
    memoryBytes: async () => memoryOf(lines.pid),
    gone: lines.gone,
    close: (options) => lines.close(options),
  }
}

/** The first turn does not wait for a slow MCP server and would miss our tools. */
async function serverReady(status: () => Promise<StreamLine | string>): Promise<void> {
  for (const endMs = Date.now() + SERVER_MS; Date.now() < endMs; await sleep(50)) {
    const answer = await status()
    const servers = typeof answer === "string" ? undefined : answer.response?.response?.mcpServers
    if (servers?.find(({ name }) => name === "throughline")?.status !== "pending") return
  }
}

function argv({ session, permissionMode, mcp, instructionsFile, settingsFile }: DriveOptions): string[] {
  const ids = {
    new: ["--session-id", session.id],
    resume: ["--resume", session.id],
    fork: ["--resume", session.id, "--fork-session", "--session-id", session.kind === "fork" ? session.as : ""],
  }
  return [
    "-p",
    ...["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
    // The echo of our message, under its uuid, tells that it was accepted; partial messages stream the answer.
    ...["--replay-user-messages", "--include-partial-messages"],
    ...["--permission-prompt-tool", "stdio", "--permission-mode", permissionMode],
    // Our own tools need no approval.
    ...(mcp ? ["--allowedTools", "mcp__throughline"] : []),
    ...ids[session.kind],
    ...(mcp ? ["--mcp-config", JSON.stringify({ mcpServers: { throughline: { type: "stdio", ...mcp } } })] : []),
    ...(instructionsFile === null ? [] : ["--append-system-prompt-file", instructionsFile]),
    ...(settingsFile === null ? [] : ["--settings", settingsFile]),
  ]
}
