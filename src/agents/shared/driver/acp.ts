import { randomUUID } from "node:crypto"
import type { DrivenSession, DriveOptions, Driver, DriverCan, PromptOptions } from "../../../domain/driver.ts"
import { Failure } from "../../../domain/failure.ts"
import { sleep } from "../../../lib/clock.ts"
import { RpcError } from "../../../lib/json-rpc.ts"
import { readNamed } from "../../../lib/untrusted-file.ts"
import { type AcpQuestion, type AcpResult, acpTurnReader } from "./acp-turn.ts"
import { type Hosts, hosts } from "./hosts.ts"
import { childEnv, memoryOf } from "./processes.ts"
import { type RpcPeer, startRpc } from "./rpc.ts"
import { checked, inTime, modeOf } from "./start.ts"
import { permission, turns } from "./turn.ts"

/** How one agent with the Agent Client Protocol differs from others. */
export interface AcpAgent {
  platform: string
  can: DriverCan
  program: string
  args: string[]
  /** Claude Code's permission modes, and the agent's own for each. */
  modes: Record<string, AcpMode>
  /** A prompt that makes it compact its history. */
  compactPrompt?: string
  /** Whether the request is for one of our own tools; absent if it never asks for those. */
  isOwnTool?(question: AcpQuestion): boolean
}

interface AcpMode {
  /** The agent's own name of the mode. */
  id: string
  env: Record<string, string>
}

/** Any agent that speaks version 1 of the Agent Client Protocol over stdio. */
export function createAcpDriver(agent: AcpAgent): Driver {
  const processes = hosts()
  return {
    platform: agent.platform,
    can: agent.can,
    start: (options) => start(agent, options, processes),
    close: () => processes.close(),
  }
}

interface Opened {
  sessionId?: string
  modes?: { currentModeId: string }
  configOptions?: { id: string; currentValue: unknown }[]
}

async function start(agent: AcpAgent, options: DriveOptions, processes: Hosts): Promise<DrivenSession> {
  checked(options, agent.can)
  const { machine, session, permissionMode, program = agent.program } = options
  const mode = modeOf(agent.modes, permissionMode)
  const env = { ...mode.env, ...childEnv(machine) }
  const key = agent.can.shared ? JSON.stringify([machine.homeDir, program, mode.env]) : randomUUID()
  const { peer, release } = await processes.take(key, async () => {
    const cwd = agent.can.shared ? machine.homeDir : options.projectDir
    const peer = await startRpc({
      ...{ command: program, args: agent.args, cwd, env },
      envelope: { jsonrpc: "2.0" },
      sessionKey: "sessionId",
    })
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
    const clientInfo = { name: "throughline", title: "Throughline", version: "1" }
    await inTime(peer, peer.call("initialize", { protocolVersion: 1, clientInfo, clientCapabilities }))
    return peer
  })
  try {
    const sessionId = await openSession(options, peer, mode)
    const instructions =
      options.instructionsFile === null ? null : readNamed(options.instructionsFile, options.projectDir)
    // The protocol has no field for instructions: they precede the first prompt.
    const first = session.kind === "new" ? instructions : null
    return drive(agent, options, peer, { sessionId, first, release })
  } catch (error) {
    await release()
    if (!(error instanceof RpcError)) throw error
    const code = session.kind === "new" ? "agent_failed" : "cannot_resume"
    throw new Failure(code, error.message, { nativeId: session.id }, { cause: error })
  }
}

async function openSession({ session, projectDir, mcp }: DriveOptions, peer: RpcPeer, mode: AcpMode): Promise<string> {
  const env = Object.entries(mcp?.env ?? {}).map(([name, value]) => ({ name, value }))
  const mcpServers = mcp ? [{ name: "throughline", command: mcp.command, args: mcp.args, env }] : []
  const calls = { new: "session/new", resume: "session/load", fork: "session/fork" }
  const known = session.kind === "new" ? {} : { sessionId: session.id }
  const params = { cwd: projectDir, mcpServers, ...known }
  const opening = async () => (await inTime(peer, peer.call<Opened | null>(calls[session.kind], params))) ?? {}
  const opened = session.kind === "resume" ? await afterReplay(peer, session.id, opening) : await opening()
  const sessionId = opened.sessionId ?? session.id
  const option = opened.configOptions?.find(({ id }) => id === "mode")
  if (opened.modes && opened.modes.currentModeId !== mode.id)
    await peer.call("session/set_mode", { sessionId, modeId: mode.id })
  else if (option && option.currentValue !== mode.id)
    await peer.call("session/set_config_option", { sessionId, configId: "mode", value: mode.id })
  return sessionId
}

/** Loading replays the history as updates, from some agents also after the answer: wait until the session is quiet. */
async function afterReplay<T>(peer: RpcPeer, sessionId: string, opening: () => Promise<T>): Promise<T> {
  let updates = 0
  const detach = peer.attach(sessionId, {
    notified() {
      updates += 1
    },
    asked: () => Promise.reject(new RpcError(-32601, "nothing runs in this session")),
  })
  try {
    const opened = await opening()
    for (let seen = -1; seen !== updates && !peer.isGone; await sleep(QUIET_MS)) seen = updates
    return opened
  } finally {
    detach()
  }
}

const QUIET_MS = 150

interface Drive {
  sessionId: string
  first: string | null
  release(options?: { isHanging?: boolean }): Promise<void>
}

function drive(
  agent: AcpAgent,
  options: DriveOptions,
  peer: RpcPeer,
  { sessionId, first, release }: Drive,
): DrivenSession {
  const running = turns()
  const reader = acpTurnReader(running, agent.can)
  const { promise: closed, resolve: setClosed } = Promise.withResolvers<string>()
  const gone = Promise.race([peer.gone, closed])
  void gone.then((reason) => running.lost(reason))
  let isFirst = true

  const detach = peer.attach(sessionId, {
    notified: (method, params) => method === "session/update" && reader.update(params.update as never),
    async asked(method, params) {
      const turn = running.running
      if (method !== "session/request_permission" || !turn) throw new RpcError(-32601, `${method} is not served here`)
      const { question, choose } = reader.question(params as never)
      const isOurs = options.mcp !== null && agent.isOwnTool?.(params as never) === true
      const answer = isOurs ? { behavior: "allow" as const } : await permission(options, question, turn.over)
      return { outcome: turn.over.aborted ? { outcome: "cancelled" } : choose(answer) }
    },
  })

  const prompt = async ({ text }: { text: string }, { onEvent }: PromptOptions) => {
    const { turn, end } = running.begin({ onEvent })
    const texts = isFirst && first !== null ? [first, text] : [text]
    isFirst = false
    const parts = texts.map((text) => ({ type: "text", text }))
    peer.call<AcpResult>("session/prompt", { sessionId, prompt: parts }).then(
      (result) => reader.ended(turn, result),
      (error: Error) => turn.end(turn.isCancelled ? "cancelled" : "failed", error.message),
    )
    return end
  }
  const cancel = async () => {
    if (!running.running) return
    running.running.cancel()
    peer.notify("session/cancel", { sessionId })
  }
  const { compactPrompt: text } = agent

  return {
    nativeId: sessionId,
    pid: peer.pid,
    gone,
    prompt,
    cancel,
    ...(text === undefined ? {} : { compact: () => prompt({ text }, { onEvent: () => {} }) }),
    ping: () => peer.ping(),
    memoryBytes: async () => memoryOf(peer.pid),
    async close(options) {
      await cancel()
      setClosed("the session was closed")
      detach()
      await release(options)
    },
  }
}
