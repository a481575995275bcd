import type { ComponentChildren } from "preact"

/** Nothing is there yet: says what to do next. */
export function Empty({ title, hint }: { title: string; hint: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{hint}</p>
    </div>
  )
}
