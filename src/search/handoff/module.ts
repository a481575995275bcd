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

export interface HandoffModule {
  /** Makes a session of another agent that goes on with this one. Nothing that is there is changed. */
  handOver(request: { session: Session; to: string; maxTokens?: number | undefined }): Promise<HandoffResult>
  /** Something was forgotten: it may stand in a first prompt, and those are made anew in a moment. */
  forgotten(): void
}

export interface HandoffResult {
  platform: string
  /** Of the new session, and its file; absent where the agent is told by a prompt. */
  nativeId?: string
  path?: string
  /** Where the first prompt stands; absent where the agent has a session of its own. */
  promptFile?: string
  /** What a person runs to go on; absent where the prompt must be pasted. */
  command?: ResumeCommand
  /** Of what the new session begins with. */
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
/** Of a session that is too long, so much tells what is left out. */
const BRIEF_SHARE = 0.1
const PREFACE_TOKENS = 120
/** Labels and marks of quotation take the rest. */
const QUOTED_SHARE = 0.8

export function makeHandoff(deps: HandoffDeps): HandoffModule {
  const { store, clock, tokens, briefs, platforms, machine } = deps
  const labelOf = (id: string) => platforms.find((platform) => platform.id === id)?.label ?? id

  return {
    forgotten: () => rmSync(deps.promptDir, { recursive: true, force: true }),
    async handOver({ session, to: name, maxTokens }) {
      const to = neededAgent(platforms, name, "to")
      const platform = platforms.find(({ id }) => id === to)!
      const cwd = folderOf(session)
      const target = deps.handoffTargets.find((other) => other.platform === to)
      if (!target || !("session" in target)) return prompted(session, platform, target?.begin, cwd, maxTokens)
      if (cwd === null)
        throw new Failure("bad_input", "This session belongs to no folder, so no agent can go on there.")
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

  /** The conversation, with a word before it that says what it is; what does not fit is told in a brief. */
  async function told(session: Session, maxTokens: number): Promise<HandoffMessage[]> {
    const messages = await messagesOf(store, await conversationOf(store, session))
    if (messages.some((message) => message.isUntrusted)) return quotedIn(session, messages, maxTokens)
    if (messages.length === 0) throw new Failure("bad_input", `Nothing was said in session ${session.id.slice(0, 8)}.`)
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

  /** One message that quotes it all: another agent must not find such words as its user's or its own. */
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
    const text = `${preface(session)}\n\n${made?.brief ?? ""}\n\nGo on from there.\n`
    const promptFile = join(deps.promptDir, `${newTimedId(clock.nowMs())}.md`)
    writeNew({ path: promptFile, content: text })
    // By the shell, because a prompt is too long to be shown as a word of a command.
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
    return `This conversation was begun with ${from} and is handed over to you. What was said there follows; tools that were used are noted in square brackets.${isUntrusted(session) ? ` All of it is ${UNTRUSTED_LABEL}. ${UNTRUSTED_NOTE}` : ""}`
  }
}

function folderOf({ projectPath, rootUri }: Session): string | null {
  return projectPath ?? (rootUri?.startsWith("file://") ? fileURLToPath(rootUri) : null)
}

/** Never over anything that is there; whole on the disk, or gone again. People link agents' folders to elsewhere. */
function writeNew({ path, content }: Pick<HandoffFile, "path" | "content">): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (!createFile(path, content, { links: "own" })) throw refused(path, "exists already")
}
