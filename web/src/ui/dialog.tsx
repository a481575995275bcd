import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"

/** The browser's own: focus stays inside, Escape closes. */
export function Dialog(props: { title: string; isOpen: boolean; onClose(): void; children: ComponentChildren }) {
  const { title, isOpen, onClose, children } = props
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen) ref.current?.showModal()
    else ref.current?.close()
  }, [isOpen])
  return (
    <dialog ref={ref} class="dialog" aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="button quiet" onClick={onClose} aria-label="Close">
          ✕
        </button>
      </header>
      {isOpen && children}
    </dialog>
  )
}
