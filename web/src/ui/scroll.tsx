import type { ComponentChildren } from "preact"

/** What is wider than the page scrolls in itself, also by the keyboard. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
