import type { AgentConsole } from "../../domain/agent-console.ts"
import { dialogIn, inputLine } from "./shared/input.ts"
import { introduced, sanitised, showsText, unfit } from "./shared/text.ts"

/** The way in where Codex offers no line of its own: it keeps no registry, and has no place to put a draft aside. */
export const codex: AgentConsole = {
  platform: "codex",
  can: { registry: false, wake: false, turn: false, promptHook: true, stash: false },
  live: async () => [],
  prepare(wanted, { isCommand }) {
    const text = sanitised(wanted)
    const why = unfit(text)
    if (why !== undefined) return { refused: why }
    if (isCommand) {
      const command = text.trim()
      if (!/^\/[a-z]/i.test(command) || command.includes("\n"))
        return { refused: "a command is one line that begins with /" }
      if (/^\/(?:exit|quit|logout)\b/i.test(command)) return { refused: "it would end the session" }
      return { text: command }
    }
    // A blank in front keeps it from neither.
    return { text: SPECIAL.test(text) ? introduced(text) : text }
  },
  screen(look) {
    const draft = inputLine(look, { prompt: /^›(?:\s|$)/ })
    if (draft !== undefined && !look.lines.some((line) => DIALOG.test(line)))
      return { kind: "input", draft, isStashed: false }
    return dialogIn(look.lines, DIALOG)
  },
  isDraftOf(draft, text) {
    const placeholder = PLACEHOLDER.exec(draft.trim())
    return placeholder ? Number(placeholder[1]) === [...text].length : showsText(draft, text)
  },
  launch({ team, resume, program = "codex" }) {
    const mode = team.skipPermissions
      ? ["--dangerously-bypass-approvals-and-sandbox"]
      : ["--ask-for-approval", "on-request", "--sandbox", team.permissionMode]
    return { argv: [program, ...(resume === undefined ? [] : ["resume", resume]), ...mode], env: {} }
  },
}

const SPECIAL = /^\s*[!/！／]|^\s*(?:exit|quit|:q)\s*$/i
const PLACEHOLDER = /^\[Pasted Content (\d+) chars\](?: #\d+)?$/
const DIALOG = /^\s*› \d+\. |\b(?:Press enter to (?:confirm|continue)|esc to cancel)\b/i
