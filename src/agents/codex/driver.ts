import { join } from "node:path"
import type { DrivenSession, DriveOptions, Driver, PromptOptions } from "../../domain/driver.ts"
import { Failure } from "../../domain/failure.ts"
import { sleep, within } from "../../lib/clock.ts"
import { RpcError } from "../../lib/json-rpc.ts"
import { readNamed } from "../../lib/untrusted-file.ts"
import { type HeldPeer, type Hosts, hosts } from "../shared/driver/hosts.ts"
import { childEnv, memoryOf } from "../shared/driver/processes.ts"
import { type RpcPeer, startRpc } from "../shared/driver/rpc.ts"
import { COMMON, checked, inTime, modeOf, SERVER_MS } from "../shared/driver/start.ts"
import { permission, turns } from "../shared/driver/turn.ts"
import { codexAnswer, codexQuestion } from "./driver-approval.ts"
import { codexTurnReader } from "./driver-turn.ts"

/** Codex through its app-server: one process per CODEX_HOME, one thread per session. */
export function createCodexDriver(): Driver {
  const processes = hosts()
  return {
    platform: "codex",
    can: COMMON,
    start: (options) => start(options, processes),
    close: () => processes.close(),
  }
}

/** Claude Code's permission modes as Codex settings. */
const MODES: Record<string, { approvalPolicy: string; sandbox: string }> = {
  default: { approvalPolicy: "untrusted", sandbox: "workspace-write" },
  acceptEdits: { approvalPolicy: "on-request", sandbox: "workspace-write" },
  plan: { approvalPolicy: "on-request", sandbox: "read-only" },
  bypassPermissions: { approvalPolicy: "never", sandbox: "danger-full-access" },
  // Codex's own sandbox names, which teams may use too.
  "workspace-write": { approvalPolicy: "on-request", sandbox: "workspace-write" },
  "read-only": { approvalPolicy: "on-request", sandbox: "read-only" },
  "danger-full-access": { approvalPolicy: "never", sandbox: "danger-full-access" },
}

const CLOSE_MS = 2_000

async function start(options: DriveOptions, processes: Hosts): Promise<DrivenSession> {
  checked(options, { settings: false })
  const { machine, program = "codex", session } = options
  const home = machine.env.CODEX_HOME ?? join(machine.homeDir, ".codex")
  const { peer, release } = await processes.take(`${home}\0${program}`, () => startServer(options, program))
  try {
    const threadId = await openThread(options, peer)
    return drive(options, peer, threadId, release)
  } catch (error) {
    await release()
    if (!(error instanceof RpcError)) throw error
    const code = session.kind === "new" ? "agent_failed" : "cannot_resume"
    throw new Failure(code, error.message, { nativeId: session.id }, { cause: error })
  }
}

async function startServer({ machine }: DriveOptions, program: string): Promise<RpcPeer> {
  const peer = await startRpc({
    command: program,
    args: ["app-server"],
    // The process outlives the project of its first session.
    cwd: machine.homeDir,
    env: childEnv(machine),
    envelope: {},
    sessionKey: "threadId",
  })
  const clientInfo = { name: "throughline", title: "Throughline", version: "1" }
  await inTime(peer, peer.call("initialize", { clientInfo, capabilities: { experimentalApi: true } }))
  peer.notify("initialized")
  return peer
}

async function openThread(options: DriveOptions, peer: RpcPeer): Promise<string> {
  const { projectDir, permissionMode, skipPermissions, instructionsFile, mcp, session } = options
  const mode = modeOf(MODES, skipPermissions ? "bypassPermissions" : permissionMode)
  const settings = {
    cwd: projectDir,
    ...mode,
    // A person answers, even if the user's settings let a model decide.
    approvalsReviewer: "user",
    ...(instructionsFile === null ? {} : { developerInstructions: readNamed(instructionsFile, projectDir) }),
    // Our own tools need no approval.
    ...(mcp ? { config: { "mcp_servers.throughline": { ...mcp, default_tools_approval_mode: "approve" } } } : {}),
  }
  const known = { threadId: session.id, excludeTurns: true, ...settings }
  const calls = { new: "thread/start", resume: "thread/resume", fork: "thread/fork" }
  const server = startedServers(peer)
  const answer = peer.call<{ thread: { id: string } }>(calls[session.kind], session.kind === "new" ? settings : known)
  try {
    const { id } = (await inTime(peer, answer)).thread
    if (mcp) await server.ready(id)
    return id
  } finally {
    server.close()
  }
}

/** Codex does not wait for MCP servers: an immediate turn would miss our tools. */
function startedServers(peer: RpcPeer): { ready(threadId: string): Promise<void>; close(): void } {
  const settled: { threadId?: string | null }[] = []
  const close = peer.listen((method, params) => {
    const isOurs = method === "mcpServer/startupStatus/updated" && params.name === "throughline"
    if (isOurs && params.status !== "starting") settled.push(params)
  })
  return {
    close,
    async ready(threadId) {
      const isSettled = () => settled.some((server) => (server.threadId ?? threadId) === threadId)
      const endMs = Date.now() + SERVER_MS
      while (!isSettled() && !peer.isGone && Date.now() < endMs) await sleep(20)
    },
  }
}

function drive(options: DriveOptions, peer: RpcPeer, threadId: string, release: HeldPeer["release"]): DrivenSession {
  const running = turns()
  const reader = codexTurnReader(running)
  const { promise: closed, resolve: setClosed } = Promise.withResolvers<string>()
  const gone = Promise.race([peer.gone, closed])
  void gone.then((reason) => running.lost(reason))
  const detach = peer.attach(threadId, {
    notified: (method, params) => reader.read(method, params),
    async asked(method, params) {
      const question = codexQuestion(method, params, reader.item(String(params.itemId)))
      const turn = running.running
      if (!question || !turn) throw new RpcError(-32601, `${method} is not served here`)
      return codexAnswer(method, params, await permission(options, question, turn.over), question)
    },
  })
  const interrupt = (turnId: string) => peer.call("turn/interrupt", { threadId, turnId }).catch(() => {})

  /** Starts a turn and waits for its end. */
  const run = async (method: string, params: object, { onEvent }: PromptOptions) => {
    const { turn, end } = running.begin({ onEvent })
    reader.begin((turnId) => {
      if (turn.isCancelled) void interrupt(turnId)
    })
    peer.call<{ turn?: { id: string } }>(method, { threadId, ...params }).then(
      (answer) => answer.turn && reader.begun(answer.turn.id),
      (error: Error) => turn.end("failed", error.message),
    )
    return end
  }

  return {
    nativeId: threadId,
    pid: peer.pid,
    gone,
    prompt: (message, on) => {
      const input = [{ type: "text", text: message.text, text_elements: [] }]
      return run("turn/start", { input, clientUserMessageId: message.id }, on)
    },
    compact: () => run("thread/compact/start", {}, { onEvent: () => {} }),
    async cancel() {
      if (!running.running) return
      running.running.cancel()
      if (reader.turnId !== undefined) await interrupt(reader.turnId)
    },
    ping: () => peer.ping(),
    memoryBytes: async () => memoryOf(peer.pid),
    async close({ isHanging = false } = {}) {
      /** A hanging process never answers. */
      const told = (call: Promise<unknown>) => within(isHanging ? 0 : CLOSE_MS, Promise.race([call, peer.gone]))
      if (running.running && reader.turnId !== undefined) await told(interrupt(reader.turnId))
      setClosed("the session was closed")
      detach()
      if (!peer.isGone) await told(peer.call("thread/unsubscribe", { threadId }).catch(() => {}))
      await release({ isHanging })
    },
  }
}
