/** Numbers as the analytics page writes them. */
export const short = (value: number) =>
  Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(value)
export const money = (value: number | undefined) => (value === undefined ? "–" : `$${value.toFixed(2)}`)
