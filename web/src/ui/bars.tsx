import type { ComponentChildren } from "preact"

export interface Bar {
  name: ComponentChildren
  value: number
  /** Drawn inside of it, in full colour: a part of it, or what is usual. */
  inner?: number
  words: string
}

/** A few things side by side, the figure at each. */
export function Bars({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const most = Math.max(...bars.map(({ value }) => value), 0) || 1
  const width = (value: number) => ({ width: `${(value / most) * 100}%` })
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ name, value, inner, words }, index) => (
        <li key={index}>
          <span class="bar-name">{name}</span>
          <span
            class={value === 0 ? "bar bar-none" : inner === undefined ? "bar" : "bar bar-outer"}
            style={width(value)}
            aria-hidden="true"
          >
            {inner !== undefined && <span class="bar" style={{ width: `${(inner / (value || 1)) * 100}%` }} />}
          </span>
          <span class="bar-words">{words}</span>
        </li>
      ))}
    </ul>
  )
}
