import { mkdirSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"

export interface Summary {
  p50: number
  p95: number
  p99: number
  max: number
}

export function summarize(values: number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (q: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

export const round = (value: number, digits = 3) => Number(value.toFixed(digits))

/** Milliseconds that the work took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export interface Row {
  what: string
  value: number | string
  bar?: string
  holds?: boolean
}

/** JSON to bench/results, a table to the terminal, and an exit code that says whether every bar holds. */
export function report(name: string, rows: Row[], details: Record<string, unknown> = {}): void {
  const machine = { cores: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30), node: process.version }
  mkdirSync(new URL("results/", import.meta.url), { recursive: true })
  writeFileSync(
    new URL(`results/${name}.json`, import.meta.url),
    `${JSON.stringify({ name, machine, rows, details }, null, 2)}\n`,
  )
  const width = Math.max(...rows.map((row) => row.what.length))
  console.log(`\n${name} (${machine.cores} cores, ${machine.memoryGb} GiB, Node ${machine.node})`)
  for (const { what, value, bar, holds } of rows) {
    console.log(
      `  ${what.padEnd(width)}  ${String(value).padStart(10)}  ${bar === undefined ? "" : `${holds ? "holds" : "MISSED"}: ${bar}`}`,
    )
  }
  if (rows.some((row) => row.holds === false)) process.exitCode = 1
}
