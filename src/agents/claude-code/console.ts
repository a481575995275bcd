import { join } from "node:path"
import type { AgentConsole, ConsoleScreen } from "../../domain/agent-console.ts"
import { dialogIn, inputLine } from "../shared/console/input.ts"
import { introduced, sanitised, showsText, unfit } from "../shared/console/text.ts"
import { liveSessions } from "./registry.ts"

export const claudeCode: AgentConsole = {
  platform: "claude-code",
  can: { registry: true, wake: true, turn: true, promptHook: true, stash: true },
  live: ({ homeDir, env }) => liveSessions(join(env.CLAUDE_CONFIG_DIR || join(homeDir, ".claude"), "sessions")),
  prepare(wanted, { isCommand }) {
    const text = sanitised(wanted)
    const why = unfit(text)
    if (why !== undefined) return { refused: why }
    if (isCommand) return asCommand(text.trim())
    const words = SPECIAL.test(text) ? introduced(text) : text
    // Enter after a backslash starts a new line; after a file name it accepts the first completion.
    return { text: AWAITS_MORE.test(words) ? `${words.trimEnd()} ` : words }
  },
  screen,
  isDraftOf(draft, text) {
    const placeholder = PLACEHOLDER.exec(draft.trim())
    return (
      showsText(draft, text) || (placeholder !== null && Number(placeholder[1] ?? 0) === text.split("\n").length - 1)
    )
  },
  launch({ team, resume, program = "claude" }) {
    const mode = team.skipPermissions ? ["--dangerously-skip-permissions"] : ["--permission-mode", team.permissionMode]
    return {
      argv: [
        program,
        // Our own tools need no approval. Must precede a flag: it consumes every word that follows.
        ...["--allowedTools", "mcp__throughline"],
        ...mode,
        ...(team.settingsFile === null ? [] : ["--settings", team.settingsFile]),
        ...(team.instructionsFile === null ? [] : ["--append-system-prompt-file", team.instructionsFile]),
        ...(resume === undefined ? [] : ["--resume", resume]),
      ],
      env: {},
    }
  },
}

/**
 * A shell command, a slash command, or a word that ends the session, also as typed on Japanese keyboards; not a path. A
 * leading blank does not prevent any of them in every version.
 */
const SPECIAL = /^\s*(?:[!！]|[/／][^\s/]*(?:\s|$)|(?:exit|quit|:q!?|:wq!?)\s*$)/
const AWAITS_MORE = /(?:\\|(?:^|\s)@\S*)\s*$/
const PLACEHOLDER = /^\[Pasted text #\d+(?: \+(\d+) lines?)?\]$/
const STASHED = /› stashed$/
const DIALOG = /^\s*❯ \d+\. |\b(?:Esc to (?:cancel|exit|go back)|Enter to (?:confirm|select))\b/

function asCommand(text: string): ReturnType<AgentConsole["prepare"]> {
  if (!/^\/[a-z]/i.test(text) || text.includes("\n")) return { refused: "a command is one line that starts with /" }
  if (/^\/(?:exit|quit)\b/i.test(text)) return { refused: "it would end the session: `throughline down` does that" }
  return { text }
}

function screen(look: Parameters<AgentConsole["screen"]>[0]): ConsoleScreen {
  const draft = inputLine(look, { prompt: /^❯(?:[\s\u00a0]|$)/, rule: /^─{8}/ })
  if (draft !== undefined) return { kind: "input", draft, isStashed: look.lines.some((line) => STASHED.test(line)) }
  return dialogIn(look.lines, DIALOG)
}
