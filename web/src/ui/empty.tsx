import type { ComponentChildren } from "preact"

/** Nothing is there yet: says what to do next. */
export function Empty({
  title,
  hint,
  children,
}: {
  title: string
  hint: ComponentChildren
  children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {hint && <p>{hint}</p>}
      {children}
    </div>
  )
}
