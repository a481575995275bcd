import { styleText } from "node:util"
import { createPrompt, isDownKey, isEnterKey, isUpKey, useKeypress, useState } from "@inquirer/core"
import { Failure } from "../../domain/failure.ts"

/** Prompts of a wizard. Ctrl-C is a Failure, so that nothing is half written. */
export interface Prompts {
  /** `check` returns what is wrong. */
  ask(question: string, options?: { isSecret?: boolean; check?: (text: string) => string | undefined }): Promise<string>
  choose<T extends string>(question: string, choices: readonly { id: T; label: string }[]): Promise<T>
}

export const terminalPrompts: Prompts = {
  ask: (question, { isSecret = false, check } = {}) => leaving(askPrompt({ question, isSecret, check })),
  choose: async (question, choices) => (await leaving(choosePrompt({ question, choices }))) as never,
}

interface Asking {
  question: string
  isSecret: boolean
  check: ((text: string) => string | undefined) | undefined
}

const askPrompt = createPrompt<string, Asking>(({ question, isSecret, check }, done) => {
  const [typed, setTyped] = useState("")
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const [isDone, setDone] = useState(false)
  useKeypress((key, readline) => {
    if (!isEnterKey(key)) {
      setTyped(readline.line)
      return setWrong(undefined)
    }
    const trouble = check?.(typed.trim())
    if (trouble !== undefined) {
      // The input stays, to be corrected.
      readline.write(typed)
      return setWrong(trouble)
    }
    setDone(true)
    done(typed.trim())
  })
  const shown = isSecret ? "•".repeat(Math.min(typed.length, 12)) : typed
  const line = `${styleText("bold", question)} ${isDone ? styleText("cyan", shown) : shown}`
  return wrong === undefined ? line : [line, styleText("red", wrong)]
})

interface Choosing {
  question: string
  choices: readonly { id: string; label: string }[]
}

const choosePrompt = createPrompt<string, Choosing>(({ question, choices }, done) => {
  const [at, setAt] = useState(0)
  const [isDone, setDone] = useState(false)
  useKeypress((key, readline) => {
    readline.clearLine(0)
    if (isEnterKey(key)) {
      setDone(true)
      return done(choices[at]!.id)
    }
    if (isUpKey(key)) setAt(Math.max(0, at - 1))
    if (isDownKey(key)) setAt(Math.min(choices.length - 1, at + 1))
  })
  const head = styleText("bold", question)
  if (isDone) return `${head} ${styleText("cyan", choices[at]!.label)}`
  const rows = choices.map(({ label }, index) => (index === at ? styleText("cyan", `❯ ${label}`) : `  ${label}`))
  return [head, rows.join("\n")]
})

async function leaving<T>(prompt: Promise<T>): Promise<T> {
  try {
    return await prompt
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ExitPromptError") throw error
    throw new Failure("bad_input", "cancelled; later steps were not applied")
  }
}
