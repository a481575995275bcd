import type { LinesReader } from "../../domain/platform.ts"
import { sessionOf, turnsAt } from "../shared/records/captures.ts"
import { asNumber, asObject, asString, parseLine, skipped } from "../shared/records/jsonl.ts"
import { digest, titleOf, wellFormed } from "../shared/records/text.ts"

/** The prompt history. Claude Code deletes transcripts after 30 days, but not this file. */
export const typedPrompts: LinesReader = {
  mode: "lines",
  begin: () => ({ titled: [] }),
  line(line, state) {
    const { sessionId, display, timestamp: atMs, project: projectPath, pastedContents } = parseLine(line)
    if (typeof sessionId !== "string" || typeof display !== "string") return [skipped("history without a session")]
    const pasted = asObject(pastedContents) ?? {}
    const expanded = display.replace(
      /\[Pasted text #(\d+)[^\]]*\]/g,
      (mark, number) => asString(asObject(pasted[number])?.content) || mark,
    )
    const text = wellFormed(expanded)
    if (text.trim() === "" || /^\/[\w:-]+\s*$/.test(text)) return [skipped("command")]
    const found = sessionOf(sessionId, { projectPath: asString(projectPath) })
    const titled = state.titled as string[]
    const title = titled.includes(sessionId) ? undefined : titleOf(text)
    if (title) {
      found.title = { text: title, from: "prompt" }
      state.titled = [...titled.slice(-255), sessionId]
    }
    const nativeId = `typed:${digest(text)}:${atMs}`
    return [found, turnsAt(sessionId, asNumber(atMs))({ nativeId, kind: "prompt", text, fallback: true })]
  },
}
