import { mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { neededAgent } from "../../domain/agent-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { Handoff, HandoffFile, HandoffMessage, HandoffTarget } from "../../domain/handoff.ts"
import { newTimedId } from "../../domain/ids.ts"
import { isUntrusted, UNTRUSTED_LABEL, UNTRUSTED_NOTE } from "../../domain/origin.ts"
import type { Machine, Platform, ResumeCommand } from "../../domain/platform.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { countable, type TokenCounter } from "../../domain/tokens.ts"
import type { Clock } from "../../lib/clock.ts"
import { refused } from "../../lib/path-rules.ts"
import { createFile } from "../../lib/untrusted-write.ts"
import type { Briefs } from "../brief/brief.ts"
import { conversationOf } from "../query/lineage.ts"
import { messagesOf, newestFitting } from "./messages.ts"

export type HandoffModule = ReturnType<typeof makeHandoff>

export interface HandoffResult {
  platform: string
  /** The new session and its file; absent if the agent gets a prompt. */
  nativeId?: string
  path?: string
  /** The file with the first prompt; absent if the agent gets a session. */
  promptFile?: string
  /** What a person runs to continue; absent if the prompt must be pasted. */
  command?: ResumeCommand
  /** The size of the new session's initial context. */
  tokens: number
}

export interface HandoffDeps {
  store: Store
  clock: Clock
  tokens: TokenCounter
  briefs: Briefs
  platforms: readonly Platform[]
  handoffTargets: readonly HandoffTarget[]
  machine: Machine
  /** For first prompts; readable by their owner only. */
  promptDir: string
}

const SESSION_TOKENS = 60_000
const PROMPT_TOKENS = 8_000
/** The share of the budget for a brief of the messages that do not fit. */
const BRIEF_SHARE = 0.1
const PREFACE_TOKENS = 120
/** Labels and quote marks take the rest. */
const QUOTED_SHARE = 0.8

export function makeHandoff(deps: HandoffDeps) {
  const { store, clock, tokens, briefs, platforms, machine } = deps
  const labelOf = (id: string) => platforms.find((platform) => platform.id === id)?.label ?? id

  return {
    /** After a forget: deletes stored first prompts, which may contain the text and are cheap to recreate. */
    forgotten: () => rmSync(deps.promptDir, { recursive: true, force: true }),
    /** Creates a session of another agent that continues this one. Existing files are never changed. */
    async create(request: { session: Session; to: string; maxTokens?: number | undefined }): Promise<HandoffResult> {
      const { session, to: name, maxTokens } = request
      const to = neededAgent(platforms, name, "to")
      const platform = platforms.find(({ id }) => id === to)!
      const cwd = folderOf(session)
      const target = deps.handoffTargets.find((other) => other.platform === to)
      if (!target || !("session" in target)) return prompted(session, platform, target?.begin, cwd, maxTokens)
      if (cwd === null)
        throw new Failure("bad_input", "This session belongs to no folder, so no agent can continue it there.")
      const messages = await told(session, maxTokens ?? SESSION_TOKENS)
      const atMs = clock.nowMs()
      const [newest] = await store.sessions.list({ platform: to, limit: 1 })
      const handoff: Handoff = {
        id: newTimedId(atMs),
        from: { platform: session.platform, nativeId: session.nativeId },
        title: session.title,
        cwd,
        gitBranch: session.gitBranch,
        agentVersion: newest?.agentVersion ?? null,
        atMs,
        messages: messages.map((message) => ({ ...message, atMs: Math.min(message.atMs, atMs - 1) })),
      }
      const file = target.session(handoff, machine)
      writeNew(file)
      const command = platform.resume?.({ nativeId: file.nativeId, projectPath: cwd })
      return {
        platform: to,
        nativeId: file.nativeId,
        path: file.path,
        ...(command ? { command } : {}),
        tokens: messages.reduce((sum, { text }) => sum + tokens.count(text), 0),
      }
    },
  }

  /** The conversation after a preface that explains it; messages that do not fit are summed up in a brief. */
  async function told(session: Session, maxTokens: number): Promise<HandoffMessage[]> {
    const messages = await messagesOf(store, await conversationOf(store, session))
    if (messages.some((message) => message.isUntrusted)) return quotedIn(session, messages, maxTokens)
    if (messages.length === 0) throw new Failure("bad_input", `Session ${session.id.slice(0, 8)} is empty.`)
    const budget = countable(maxTokens) - PREFACE_TOKENS
    const whole = newestFitting(messages, budget, tokens)
    const atMs = messages[0]!.atMs
    if (whole.leftOut === 0) return [{ by: "person", text: preface(session), atMs }, ...whole.kept]
    const briefTokens = Math.floor(maxTokens * BRIEF_SHARE)
    const brief = (await briefs.make({ session, maxTokens: briefTokens }))?.brief ?? ""
    const { kept, leftOut } = newestFitting(messages, budget - tokens.count(brief), tokens)
    const gone = `The first ${leftOut} of ${messages.length} messages are left out; in brief:\n\n${brief}`
    return [{ by: "person", text: `${preface(session)}\n\n${gone}`, atMs }, ...kept]
  }

  /** One message that quotes everything: the agent must not take untrusted text for its user's words or its own. */
  function quotedIn(session: Session, messages: readonly HandoffMessage[], maxTokens: number): HandoffMessage[] {
    const fitting = newestFitting(
      messages,
      Math.floor((countable(maxTokens) - 2 * PREFACE_TOKENS) * QUOTED_SHARE),
      tokens,
    )
    const said = fitting.kept.map(({ by, text, isUntrusted: isMarked }) => {
      const label = isMarked ? ` [${UNTRUSTED_LABEL}]` : ""
      return `${by === "person" ? "User" : "Agent"}${label}:\n${text.replaceAll(/^/gm, "> ")}`
    })
    const note = isUntrusted(session) ? "" : `\n\n${UNTRUSTED_NOTE}`
    return [{ by: "person", text: [`${preface(session)}${note}`, ...said].join("\n\n"), atMs: messages[0]!.atMs }]
  }

  async function prompted(
    session: Session,
    platform: Platform,
    begin: readonly string[] | undefined,
    cwd: string | null,
    maxTokens = PROMPT_TOKENS,
  ): Promise<HandoffResult> {
    const made = await briefs.make({ session, maxTokens: Math.max(0, maxTokens - PREFACE_TOKENS) })
    const text = `${preface(session)}\n\n${made?.brief ?? ""}\n\nContinue from there.\n`
    const promptFile = join(deps.promptDir, `${newTimedId(clock.nowMs())}.md`)
    writeNew({ path: promptFile, content: text })
    // Read by the shell, because the prompt is too long to show in a command.
    const argv = begin && ["sh", "-c", `exec ${begin.join(" ")} "$(cat "$0")"`, promptFile]
    return {
      platform: platform.id,
      promptFile,
      ...(argv ? { command: { argv, cwd } } : {}),
      tokens: tokens.count(text),
    }
  }

  function preface(session: Session): string {
    const from = `${labelOf(session.platform)} (session ${session.id.slice(0, 8)})`
    return `This conversation started with ${from} and is handed off to you. It follows below, with tool calls noted in square brackets.${isUntrusted(session) ? ` All of it is ${UNTRUSTED_LABEL}. ${UNTRUSTED_NOTE}` : ""}`
  }
}

function folderOf({ projectPath, rootUri }: Session): string | null {
  return projectPath ?? (rootUri?.startsWith("file://") ? fileURLToPath(rootUri) : null)
}

/** Atomic, and never over an existing file. Agents' own folders may be symlinks. */
function writeNew({ path, content }: Pick<HandoffFile, "path" | "content">): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (!createFile(path, content, { links: "own" })) throw refused(path, "exists already")
}
