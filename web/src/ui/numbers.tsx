import type { ComponentChildren } from "preact"
import { Scroll } from "./scroll.tsx"
import { TableHead } from "./table-head.tsx"

export interface NumbersTable {
  title: string
  head: readonly string[]
  rows: readonly (readonly ComponentChildren[])[]
}

/** A table, collapsed by default. */
export function Numbers({ title, of, head, rows }: NumbersTable & { of?: string }) {
  return (
    <details class="numbers">
      <summary>
        {of}
        <span class={of && "sr-only"}>
          {of && ": "}
          {title}
        </span>
      </summary>
      <Scroll label={title}>
        <table>
          <TableHead columns={head} />
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  )
}

/** A titled plot with its data table. */
export function Panel({
  title,
  numbers,
  children,
}: {
  title: string
  numbers: Omit<NumbersTable, "title">
  children: ComponentChildren
}) {
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {children}
      {numbers.rows.length > 0 && <Numbers title={title} of="Show data" {...numbers} />}
    </section>
  )
}
