import { posix, win32 } from "node:path"
import { parse } from "smol-toml"
import type { HandoffMessage, SessionWriter } from "../../domain/handoff.ts"
import { readText } from "../../lib/untrusted-file.ts"

/** Copied records are older than the session's own start: that is how records.ts recognises them. */
export const codex: SessionWriter = {
  platform: "codex",
  session(handoff, machine) {
    const { join, isAbsolute } = machine.os === "win32" ? win32 : posix
    const named = machine.env.CODEX_HOME ?? ""
    const home = isAbsolute(named) ? named : join(machine.homeDir, ".codex")
    const { id, from, title, cwd, gitBranch, agentVersion, atMs } = handoff
    const timestamp = new Date(atMs).toISOString()
    const meta = {
      id,
      session_id: id,
      timestamp,
      cwd,
      originator: "throughline",
      cli_version: agentVersion ?? "0.150.0",
      source: "cli",
      thread_source: "user",
      // Its shared daemon refuses sessions without a provider.
      model_provider: modelProvider(join(home, "config.toml")),
      ...(gitBranch === null ? {} : { git: { branch: gitBranch } }),
      handed_over: { platform: from.platform, session_id: from.nativeId, title },
    }
    const lines = [{ timestamp, type: "session_meta", payload: meta }, ...handoff.messages.flatMap(said)]
    const [year, month, day, time] = localTime(atMs)
    return {
      nativeId: id,
      path: join(home, "sessions", year, month, day, `rollout-${year}-${month}-${day}T${time}-${id}.jsonl`),
      content: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`,
    }
  },
}

interface Settings {
  model_provider?: unknown
  profile?: unknown
  profiles?: Record<string, { model_provider?: unknown } | undefined>
}

/** The provider that a new session of the person would use. */
function modelProvider(configPath: string): string {
  try {
    const settings = parse(readText(configPath, { links: "own" })) as Settings
    const named = settings.profiles?.[String(settings.profile)]?.model_provider ?? settings.model_provider
    if (typeof named === "string" && named !== "") return named
  } catch {
    // Missing or invalid settings: Codex cannot read them either.
  }
  return DEFAULT_PROVIDER
}

const DEFAULT_PROVIDER = "openai"

/** One record for the model, one for the screen. */
function said({ by, text, atMs }: HandoffMessage): object[] {
  const timestamp = new Date(atMs).toISOString()
  const isPerson = by === "person"
  const content = [{ type: isPerson ? "input_text" : "output_text", text }]
  const message = { type: "message", role: isPerson ? "user" : "assistant", content }
  const event = { type: isPerson ? "user_message" : "agent_message", message: text }
  return [
    { timestamp, type: "response_item", payload: message },
    { timestamp, type: "event_msg", payload: event },
  ]
}

/** Codex names folders and files by local time. */
function localTime(atMs: number): [year: string, month: string, day: string, time: string] {
  const date = new Date(atMs)
  const two = (value: number) => String(value).padStart(2, "0")
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join("-")
  return [String(date.getFullYear()), two(date.getMonth() + 1), two(date.getDate()), time]
}
