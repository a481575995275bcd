import { join } from "node:path"
import type { AgentConsole, ConsoleScreen } from "../../domain/agent-console.ts"
import { dialogIn, inputLine, prepared, showsText } from "../shared/terminal.ts"
import { liveSessions } from "./registry.ts"

export const claudeCode: AgentConsole = {
  platform: "claude-code",
  can: { registry: true, wake: true, turn: true, promptHook: true, stash: true },
  live: ({ homeDir, env }) => liveSessions(join(env.CLAUDE_CONFIG_DIR || join(homeDir, ".claude"), "sessions")),
  prepare(wanted, { isCommand }) {
    const ready = prepared(wanted, isCommand, /^\/(?:exit|quit)\b/i)
    if (isCommand || "refused" in ready) return ready
    // Enter after a backslash starts a new line; after a file name it accepts the first completion.
    return { text: AWAITS_MORE.test(ready.text) ? `${ready.text.trimEnd()} ` : ready.text }
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

const AWAITS_MORE = /(?:\\|(?:^|\s)@\S*)\s*$/
const PLACEHOLDER = /^\[Pasted text #\d+(?: \+(\d+) lines?)?\]$/
const STASHED = /› stashed$/
const DIALOG = /^\s*❯ \d+\. |\b(?:Esc to (?:cancel|exit|go back)|Enter to (?:confirm|select))\b/

function screen(look: Parameters<AgentConsole["screen"]>[0]): ConsoleScreen {
  const draft = inputLine(look, { prompt: /^❯(?:[\s\u00a0]|$)/, rule: /^─{8}/ })
  if (draft !== undefined) return { kind: "input", draft, isStashed: look.lines.some((line) => STASHED.test(line)) }
  return dialogIn(look.lines, DIALOG)
}
