import { createHash } from "node:crypto"
import { realpathSync } from "node:fs"
import { posix, win32 } from "node:path"
import type { Handoff, HandoffMessage, SessionWriter } from "../../domain/handoff.ts"

/** Each line names the session it was copied from, so that records.ts recognises it; forks keep the mark. */
export const claudeCode: SessionWriter = {
  platform: "claude-code",
  session(handoff, machine) {
    const { join, isAbsolute } = machine.os === "win32" ? win32 : posix
    const named = (machine.env.CLAUDE_CONFIG_DIR ?? "").split(",").map((dir) => dir.trim())
    const home = named.find((dir) => isAbsolute(dir)) ?? join(machine.homeDir, ".claude")
    const cwd = realPath(handoff.cwd)
    const folder = machine.env.CLAUDE_CODE_PROJECT_DIR_NAME || folderOf(cwd)
    const lines = linesOf({ ...handoff, cwd })
    return {
      nativeId: handoff.id,
      path: join(home, "projects", folder, `${handoff.id}.jsonl`),
      content: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`,
    }
  },
}

function linesOf(handoff: Handoff): object[] {
  const { id: sessionId, from, cwd, gitBranch, agentVersion, title } = handoff
  const common = {
    isSidechain: false,
    userType: "external",
    cwd,
    sessionId,
    version: agentVersion ?? "2.1.0",
    gitBranch: gitBranch ?? "",
    handedOver: { platform: from.platform, sessionId: from.nativeId, at: new Date(handoff.atMs).toISOString() },
  }
  const uuids = handoff.messages.map((_, index) => uuidFrom(`${sessionId} ${index}`))
  const said = handoff.messages.map((message, index) => ({
    parentUuid: uuids[index - 1] ?? null,
    ...common,
    ...(message.by === "person" ? prompt(message) : reply(message, uuids[index]!)),
    uuid: uuids[index],
    timestamp: new Date(message.atMs).toISOString(),
  }))
  return [...said, { type: "ai-title", aiTitle: title, sessionId }]
}

const prompt = ({ text }: HandoffMessage) => ({ type: "user", message: { role: "user", content: text } })

/** Claude Code treats messages of this model as its own and counts no cost. */
const reply = ({ text }: HandoffMessage, uuid: string) => ({
  type: "assistant",
  message: {
    id: `msg_${uuid.replaceAll("-", "")}`,
    type: "message",
    role: "assistant",
    model: "<synthetic>",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  },
})

const LONGEST_FOLDER = 200

/** Claude Code's name for a project's folder; older versions look for sessions only there. */
function folderOf(cwd: string): string {
  const name = cwd.replaceAll(/[^A-Za-z0-9]/g, "-")
  if (name.length <= LONGEST_FOLDER) return name
  let hash = 0
  for (let at = 0; at < cwd.length; at++) hash = (Math.imul(hash, 31) + cwd.charCodeAt(at)) | 0
  return `${name.slice(0, LONGEST_FOLDER)}-${Math.abs(hash).toString(36)}`
}

/** A deleted folder keeps its path. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function uuidFrom(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
