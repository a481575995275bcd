const [PASTE, PASTED] = ["\x1b[200~", "\x1b[201~"]
const LONG = { chars: 800, lines: 2 }

interface InputOptions {
  screen(): { said: readonly string[]; isBusy: boolean }
  onSubmit(text: string): void
  onExit(): void
}

/** An input line between two rules below the conversation: a console looks for it, and types into it. */
export function makeInput({ screen, onSubmit, onExit }: InputOptions) {
  let waiting = ""
  let draft = ""
  /** How it is shown: a long paste is only named. */
  let shown = ""

  const paste = (text: string) => {
    const lines = text.split("\n").length - 1
    const isLong = text.length > LONG.chars || lines > LONG.lines
    draft += text
    shown += isLong ? `[Pasted text #1${lines > 0 ? ` +${lines} lines` : ""}]` : text
  }
  const clear = () => {
    draft = shown = ""
  }
  const key = (sign: string) => {
    if (sign === "\r") {
      const text = draft.trimEnd()
      clear()
      if (text.trim() !== "") onSubmit(text)
    } else if (sign === "\x03" || sign === "\x04") draft === "" ? onExit() : clear()
    else if (sign === "\x15") clear()
    else if (sign === "\x7f") {
      draft = draft.slice(0, -1)
      shown = shown.slice(0, -1)
    } else if (sign >= " ") {
      draft += sign
      shown += sign
    }
  }
  /** Takes what is complete; the beginning of a paste waits for its end. */
  const read = () => {
    while (waiting !== "") {
      if (waiting.startsWith(PASTE)) {
        const end = waiting.indexOf(PASTED)
        if (end < 0) return
        paste(waiting.slice(PASTE.length, end))
        waiting = waiting.slice(end + PASTED.length)
      } else if (waiting.startsWith("\x1b")) {
        if (waiting.length > 1 && PASTE.startsWith(waiting)) return
        // Other keys of the terminal mean nothing here.
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one.
        waiting = waiting.replace(/^\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)?/, "")
      } else {
        const [sign = ""] = waiting
        waiting = waiting.slice(sign.length)
        key(sign)
      }
    }
  }

  const draw = () => {
    const { columns = 80, rows = 24 } = process.stdout
    const { said, isBusy } = screen()
    const rule = "─".repeat(columns)
    const typed = wrapped(shown, columns - 4)
    const box = [
      rule,
      ...typed.map((line, at) => `${at === 0 ? "❯ " : "  "}${line}`),
      rule,
      isBusy ? "  esc to interrupt" : "  ? for shortcuts",
    ]
    const above = said.flatMap((line) => wrapped(line, columns - 2)).slice(-Math.max(0, rows - box.length))
    const lines = [...above, ...box].slice(-rows)
    const row = lines.length - 2
    const column = typed.at(-1)!.length + 3
    process.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J\x1b[${row};${column}H`)
  }

  return {
    draw,
    begin() {
      process.stdin.setRawMode(true)
      process.stdin.setEncoding("utf8")
      process.stdin.on("error", () => {})
      process.stdout.on("error", () => {})
      process.stdout.on("resize", draw)
      process.stdout.write("\x1b[?2004h\x1b[2J")
      process.stdin.on("data", (chunk: string) => {
        waiting += chunk
        read()
        draw()
      })
      draw()
    },
    end() {
      try {
        process.stdout.write("\x1b[?2004l\x1b[2J\x1b[H")
        process.stdin.setRawMode(false)
      } catch {
        // The terminal is gone already.
      }
    },
  }
}

/** Signs that are drawn wide could take two columns each: then a line holds half as many. */
function wrapped(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => {
    const signs = [...line]
    const most = Math.floor(columns / (/^[ -~]*$/.test(line) ? 1 : 2))
    const count = Math.max(1, Math.ceil(signs.length / most))
    return Array.from({ length: count }, (_, at) => signs.slice(at * most, (at + 1) * most).join(""))
  })
}
