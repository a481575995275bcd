import { useSignal } from "@preact/signals"
import type { ask } from "../api.ts"

type Question = Awaited<ReturnType<typeof ask<"permissions.list">>>["permissions"][number]["questions"][number]

/** What an agent wants to be told before it goes on; answered together. */
export function Questions(props: {
  id: string
  questions: readonly Question[]
  isSent: boolean
  onAnswer(words: string[]): void
}) {
  const { id, questions, isSent, onAnswer } = props
  const chosen = useSignal<readonly (readonly string[])[]>(questions.map(() => []))
  const choose = (at: number, words: readonly string[]) => {
    chosen.value = chosen.peek().map((old, index) => (index === at ? words : old))
  }
  const isComplete = chosen.value.every((words) => words.some((word) => word.trim() !== ""))
  return (
    <form
      class="asks"
      onSubmit={(event) => {
        event.preventDefault()
        onAnswer(chosen.peek().map((words) => words.join(", ")))
      }}
    >
      {questions.map(({ text, options, several, ownWords }, at) => (
        <fieldset key={text} class="question">
          <legend>{text}</legend>
          {options.map((option) => (
            <label key={option}>
              <input
                type={several ? "checkbox" : "radio"}
                name={`${id} ${at}`}
                checked={chosen.value[at]!.includes(option)}
                onChange={({ currentTarget: { checked } }) => {
                  const others = several ? chosen.peek()[at]!.filter((word) => word !== option) : []
                  choose(at, checked ? [...others, option] : others)
                }}
              />{" "}
              {option}
            </label>
          ))}
          {ownWords && (
            <input
              type="text"
              aria-label={`Own words: ${text}`}
              placeholder="Or in your own words"
              onInput={({ currentTarget: { value } }) => choose(at, [value])}
            />
          )}
        </fieldset>
      ))}
      <button type="submit" class="button main-action" disabled={isSent || !isComplete}>
        Answer
      </button>
    </form>
  )
}
