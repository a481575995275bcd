import { signal } from "@preact/signals"

/** One clock for every relative time on the page. */
const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 20_000)

const UNITS: readonly [seconds: number, name: string][] = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [7, "d"],
]

/** Relative time; the exact one is in the tooltip. */
export function Time({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {ago(now.value - date.getTime(), date)}
    </time>
  )
}

function ago(ms: number, date: Date): string {
  let left = Math.max(0, ms) / 1000
  if (left < 10) return "now"
  for (const [size, name] of UNITS) {
    if (left < size) return `${Math.floor(left)} ${name} ago`
    left /= size
  }
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  return date.toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    ...(isThisYear ? {} : { year: "numeric" }),
  })
}

export function lasting(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  let left = ms / 1000
  for (const [size, name] of UNITS) {
    if (left < size) return `${left < 10 && name !== "s" ? Number(left.toFixed(1)) : Math.round(left)} ${name}`
    left /= size
  }
  return `${Math.round(left)} weeks`
}

export const counted = (count: number, what: string) => `${count.toLocaleString()} ${what}${count === 1 ? "" : "s"}`

/** A session's size in prompts, or in thoughts where it has no prompts. */
export const amount = ({ promptCount, thoughtCount }: { promptCount: number; thoughtCount: number }) =>
  promptCount === 0 && thoughtCount > 0 ? counted(thoughtCount, "thought") : counted(promptCount, "prompt")

export const sized = (bytes: number) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3).toLocaleString()} kB` : `${(bytes / 1e6).toFixed(1)} MB`
