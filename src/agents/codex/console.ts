import type { AgentConsole } from "../../domain/agent-console.ts"
import { Failure } from "../../domain/failure.ts"
import type { Team } from "../../domain/team.ts"
import { readNamed } from "../../lib/untrusted-file.ts"
import { dialogIn, inputLine, prepared, showsText } from "../shared/terminal.ts"
import { closeCodexSession } from "./line-close.ts"
import { codexLive } from "./line-live.ts"

/** Used where Codex offers no line: its daemon is the registry, and it cannot stash a draft. */
export const codex: AgentConsole = {
  platform: "codex",
  can: { registry: true, wake: false, turn: false, promptHook: true, stash: false },
  live: codexLive,
  closeSession: closeCodexSession,
  prepare: (wanted, { isCommand }) => prepared(wanted, isCommand, /^\/(?:exit|quit|logout)\b/i),
  screen(look) {
    // There is always something below an input line; below a question there is nothing, or how to answer it.
    const below = look.lines.slice(look.cursor.row + 1).filter((line) => line.trim() !== "")
    const isQuestion = below.length === 0 || below.some((line) => DIALOG.test(line))
    const draft = isQuestion ? undefined : inputLine(look, { prompt: /^›(?:\s|$)/ })
    return draft === undefined ? dialogIn(look.lines, DIALOG) : { kind: "input", draft, isStashed: false }
  },
  isDraftOf(draft, text) {
    const placeholder = PLACEHOLDER.exec(draft.trim())
    return showsText(draft, text) || (placeholder !== null && Number(placeholder[1]) === [...text].length)
  },
  launch({ team, resume, program = "codex" }) {
    if (team.settingsFile !== null)
      throw new Failure(
        "config_invalid",
        `team ${team.name}: Codex takes no settings file; it reads its own config.toml`,
      )
    const text = team.instructionsFile === null ? undefined : readNamed(team.instructionsFile, team.projectDir)
    return {
      argv: [
        program,
        ...(resume === undefined ? [] : ["resume", resume]),
        ...modeOf(team),
        ...(text === undefined ? [] : ["-c", `developer_instructions=${JSON.stringify(text)}`]),
      ],
      env: {},
    }
  },
}

const PLACEHOLDER = /^\[Pasted Content (\d+) chars\](?: #\d+)?$/
const DIALOG = /^\s*› \d+\. |\b(?:enter to (?:confirm|continue|submit|select)|esc to (?:cancel|go back))\b/i
const SANDBOXES = ["read-only", "workspace-write", "danger-full-access"]

/** Codex has sandboxes instead of modes, and asks before anything leaves the sandbox. */
function modeOf({ name, skipPermissions, permissionMode }: Team): string[] {
  if (skipPermissions) return ["--dangerously-bypass-approvals-and-sandbox"]
  const sandbox = permissionMode === "default" ? "workspace-write" : permissionMode
  if (!SANDBOXES.includes(sandbox))
    throw new Failure("config_invalid", `team ${name}: permissionMode for Codex is one of ${SANDBOXES.join(", ")}`)
  return ["--ask-for-approval", "on-request", "--sandbox", sandbox]
}
