import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"

interface Dialog {
  title: string
  isOpen: boolean
  onClose(): void
  children: ComponentChildren
}

/** Nothing is on the page while it is closed: a list of hits has one for each. */
export const Dialog = (dialog: Dialog) => (dialog.isOpen ? <OpenDialog {...dialog} /> : null)

/** The browser's own: focus stays inside, Escape closes. */
function OpenDialog({ title, onClose, children }: Dialog) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    ref.current?.showModal()
    return () => (before as HTMLElement | null)?.focus?.()
  }, [])
  return (
    <dialog ref={ref} class="dialog" aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="button quiet" onClick={onClose} aria-label="Close">
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}
