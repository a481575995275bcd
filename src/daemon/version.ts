import { readFileSync } from "node:fs"

/** package.json is one level above both src/ and dist/. */
export const VERSION = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version

/** Negative when a is older. Only released numbers are compared; a suffix counts as older than none. */
export function compareVersions(a: string, b: string): number {
  const parse = (text: string) => ({ numbers: text.split("-")[0]!.split(".").map(Number), pre: text.includes("-") })
  const [x, y] = [parse(a), parse(b)]
  for (const index of [0, 1, 2]) {
    const difference = (x.numbers[index] ?? 0) - (y.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  return Number(y.pre) - Number(x.pre)
}
