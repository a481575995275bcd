import { styleText } from "node:util"
import { createPrompt, isEnterKey, useEffect, useKeypress, usePagination, useRef, useState } from "@inquirer/core"
import { columnsOf, fitted, lineRanges } from "../../operations/columns.ts"

export interface Choice {
  id: string
  title: string
  /** Time, agent, project. */
  about: [at: string, platform: string, project: string]
  /** Shown below the list while selected. */
  preview: string
}

export interface Choices {
  choices: Choice[]
  /** Why the list is empty or incomplete. */
  note?: string | undefined
}

/** The choices for the typed words. */
export type Offer = (typed: string) => Promise<Choices>

/** An interactive picker: the chosen session's id, or how the person quit. */
export async function pickSession(offer: Offer): Promise<{ id?: string | undefined; isInterrupted: boolean }> {
  try {
    return { id: await picker({ offer }, { clearPromptOnDone: true }), isInterrupted: false }
  } catch (error) {
    if (error instanceof Error && error.name === "ExitPromptError") return { isInterrupted: true }
    throw error
  }
}

interface Shown extends Choices {
  /** The words they match; undefined before the first answer. */
  typed: string | undefined
  at: number
}

const picker = createPrompt<string | undefined, { offer: Offer }>(({ offer }, done) => {
  const [typed, setTyped] = useState("")
  const [shown, setShown] = useState<Shown>({ typed: undefined, choices: [], at: 0 })
  // Enter before the answer arrives picks its first line, not one of the old list.
  const isEntered = useRef(false)

  useEffect(() => {
    const asking = new AbortController()
    const take = (found: Choices) => {
      // A newer query has its own answer.
      if (asking.signal.aborted) return
      setShown({ ...found, typed, at: 0 })
      if (isEntered.current && found.choices[0]) done(found.choices[0].id)
      isEntered.current = false
    }
    offer(typed).then(take, (error: unknown) => take({ choices: [], note: (error as Error).message }))
    return () => asking.abort()
  }, [typed])

  useKeypress((key, readline) => {
    const isUp = key.name === "up" || (key.ctrl && key.name === "p")
    const isDown = key.name === "down" || (key.ctrl && key.name === "n")
    if (key.name === "escape") return done(undefined)
    if (isEnterKey(key)) {
      // Keep the line that readline has just consumed.
      readline.write(typed)
      const chosen = shown.choices[shown.at]
      if (shown.typed !== typed) isEntered.current = true
      else if (chosen) done(chosen.id)
      return
    }
    isEntered.current = false
    if (isUp || isDown || key.name === "tab") {
      readline.clearLine(0)
      readline.write(typed)
      const at = Math.min(Math.max(shown.at + (isUp ? -1 : isDown ? 1 : 0), 0), shown.choices.length - 1)
      if (at !== shown.at && at >= 0) setShown({ ...shown, at })
      return
    }
    setTyped(readline.line)
  })

  const columns = process.stdout.columns ?? 80
  const pageSize = Math.max(3, Math.min(15, (process.stdout.rows ?? 24) - 7))
  const list = usePagination({
    // It cannot show nothing.
    items: shown.choices.length > 0 ? shown.choices.map((choice) => row(choice, shown.choices, columns)) : [["", ""]],
    active: shown.at,
    pageSize,
    loop: false,
    renderItem: ({ item: [title = "", about = ""], isActive }) =>
      isActive
        ? styleText(["bold", "cyan"], `❯ ${title}`) + styleText("cyan", about)
        : `  ${title}${styleText("dim", about)}`,
  })
  const preview = shown.choices[shown.at]?.preview ?? ""
  const body = [
    ...(shown.choices.length > 0 ? [list, "", ...previewLines(preview, columns)] : []),
    ...(shown.note === undefined ? [] : [styleText("yellow", fitted(shown.note, columns * 2))]),
    styleText("dim", fitted("type to search · ↑↓ select · enter resume · esc quit", columns - 1)),
  ]
  return [`${styleText("bold", "Session:")} ${typed}`, body.join("\n")]
})

/** Aligned columns, never wider than the terminal. */
function row(choice: Choice, all: Choice[], columns: number): [title: string, about: string] {
  const widest = (part: 0 | 1 | 2, most: number) =>
    Math.min(most, Math.max(...all.map(({ about }) => columnsOf(about[part]))))
  const [at, platform, project] = choice.about
  const isWide = columns >= 100
  const parts = [
    fitted(isWide ? at : at.slice(0, 10), 16),
    fitted(platform, widest(1, 14), true),
    fitted(project, widest(2, isWide ? 28 : 16)),
  ]
  const aboutColumns = (isWide ? 16 : 10) + widest(1, 14) + widest(2, isWide ? 28 : 16) + 6
  const room = Math.max(16, columns - aboutColumns - 3)
  return [fitted(choice.title, room, true), `  ${parts.join("  ")}`]
}

const PREVIEW_LINES = 2

function previewLines(text: string, columns: number): string[] {
  const line = fitted(text, Number.POSITIVE_INFINITY)
  const ranges = lineRanges(line, columns - 3)
  return ranges.slice(0, PREVIEW_LINES).map(([start, end], at) => {
    const isCut = at === PREVIEW_LINES - 1 && ranges.length > PREVIEW_LINES
    return styleText("cyan", `  ${isCut ? fitted(line.slice(start), columns - 3) : line.slice(start, end)}`)
  })
}
