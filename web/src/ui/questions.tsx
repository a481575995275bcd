import { useSignal } from "@preact/signals"
import type { ask } from "../api.ts"

type Question = Awaited<ReturnType<typeof ask<"permissions.list">>>["permissions"][number]["questions"][number]

interface Answer {
  picked: readonly string[]
  own: string
}
const NOTHING: Answer = { picked: [], own: "" }
const isGiven = ({ picked, own }: Answer) => picked.length > 0 || own.trim() !== ""

/** An agent's questions, answered together. */
export function Questions(props: {
  id: string
  questions: readonly Question[]
  isSent: boolean
  onAnswer(words: string[]): void
}) {
  const { id, questions, isSent, onAnswer } = props
  const answers = useSignal<readonly Answer[]>(questions.map(() => NOTHING))
  const left = answers.value.filter((answer) => !isGiven(answer)).length
  return (
    <form
      class="questions"
      onSubmit={(event) => {
        event.preventDefault()
        onAnswer(answers.peek().map(({ picked, own }) => [...picked, own.trim()].filter(Boolean).join(", ")))
      }}
    >
      {questions.map((question, at) => (
        <One
          key={at}
          name={`${id} ${at}`}
          question={question}
          answer={answers.value[at]!}
          onChange={(change) => {
            // Read with peek: two clicks may arrive before the next render.
            answers.value = answers.peek().with(at, change(answers.peek()[at]!))
          }}
        />
      ))}
      <span class="actions">
        <button type="submit" class="button main-action" disabled={isSent || left > 0}>
          Answer
        </button>
        {left > 0 && questions.length > 1 && <span class="muted">{left} to answer</span>}
      </span>
    </form>
  )
}

function One(props: {
  name: string
  question: Question
  answer: Answer
  onChange(change: (before: Answer) => Answer): void
}) {
  const { name, question, answer, onChange } = props
  const { text, options, details, several, ownWords } = question
  const { picked, own } = answer
  return (
    <fieldset class="question">
      <legend>
        {text} {several && <span class="muted">Choose any number.</span>}
      </legend>
      {options.map((option, at) => (
        <label key={option} class="option">
          <input
            type={several ? "checkbox" : "radio"}
            name={name}
            checked={picked.includes(option)}
            onChange={({ currentTarget: { checked } }) =>
              onChange((before) => ({
                // In the offered order.
                picked: options.filter((one) => (one === option ? checked : several && before.picked.includes(one))),
                own: several ? before.own : "",
              }))
            }
          />
          <span>
            {option}
            {details[at] && <span class="muted"> {details[at]}</span>}
          </span>
        </label>
      ))}
      {ownWords && (
        <input
          type="text"
          aria-label={`Your answer: ${text}`}
          placeholder={options.length > 0 ? "Or type your own answer" : "Type your answer"}
          value={own}
          onInput={({ currentTarget: { value } }) =>
            onChange((before) => ({ picked: several ? before.picked : [], own: value }))
          }
        />
      )}
    </fieldset>
  )
}
