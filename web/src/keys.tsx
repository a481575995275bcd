import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { go } from "./router.ts"
import { Dialog } from "./ui/dialog.tsx"

const isHelpOpen = signal(false)

const KEYS: readonly [key: string, what: string][] = [
  ["/", "Search"],
  ["j, k", "Next and previous item"],
  ["Enter", "Open"],
  ["g h", "Go to Home"],
  ["g s", "Go to Search"],
  ["g t", "Go to Teams"],
  ["g a", "Go to Analytics"],
  ["g d", "Go to Health"],
  ["?", "Show this list"],
  ["Esc", "Close / leave field"],
]

const GO: Record<string, string> = { h: "/", s: "/search", t: "/teams", a: "/analytics", d: "/health" }

/** Shortcuts for every page. List items carry `data-item`; Enter opens their first link. */
export function useKeys(): void {
  useEffect(() => {
    let afterG = false
    const onKey = (event: KeyboardEvent) => {
      const isTyping = (event.target as Element).matches("input, textarea, select, [contenteditable]")
      if (event.key === "Escape" && isTyping) return (event.target as HTMLElement).blur()
      if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return
      const to = afterG ? GO[event.key] : undefined
      afterG = event.key === "g"
      if (to !== undefined) return go(to)
      if (event.key === "/") {
        event.preventDefault()
        const field = document.querySelector<HTMLInputElement>("input[type=search]")
        if (field) field.focus()
        else go("/search")
      } else if (event.key === "?") isHelpOpen.value = true
      else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1)
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
}

/** Moves the focus itself, so that Enter and screen readers follow. */
function step(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>("[data-item]")]
  const at = items.findIndex((item) => item.contains(document.activeElement))
  const next = items[at < 0 ? (by === 1 ? 0 : items.length - 1) : at + by]
  next?.querySelector<HTMLElement>("a, button")?.focus()
  next?.scrollIntoView({ block: "nearest" })
}

export function KeyHelp() {
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isHelpOpen.value} onClose={() => (isHelpOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
