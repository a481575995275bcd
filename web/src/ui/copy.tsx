import { useSignal } from "@preact/signals"

const SHOWN_MS = 1_600

/** Copies to the clipboard and confirms it on the button. */
export function Copy({ text, label }: { text: string; label: string }) {
  const isDone = useSignal(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    isDone.value = true
    setTimeout(() => {
      isDone.value = false
    }, SHOWN_MS)
  }
  return (
    <button type="button" class="button" onClick={copy} title={text}>
      {isDone.value ? "Copied" : label}
    </button>
  )
}
