import type { ComponentChildren } from "preact"

/** Empty state with the next step. */
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
