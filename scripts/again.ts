import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"

/** How one run of vitest is started; its reporters' arguments are added to it. */
export type Run = (args: string[]) => number

export interface Outcome {
  status: number
  /** What failed among the others and passed by itself. */
  unsteady: { file: string; tests: string[] }[]
}

/** More than these, and it is no matter of a busy machine. */
const MOST_FILES = 4

/**
 * Journeys drive other people's programs, three at a time on two cores, and some of those miss a key or a moment then.
 * Files that fail are run once more, alone: what fails there too has failed, and what passes is named.
 */
export function runTwice(run: Run, args: string[], root: string): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "tl-report-"))
  try {
    const path = join(folder, "report.json")
    const status = run([...args, "--reporter=default", "--reporter=json", `--outputFile.json=${path}`])
    const failed = status === 0 || !existsSync(path) ? [] : failedFiles(readFileSync(path, "utf8"), root)
    if (failed.length === 0 || failed.length > MOST_FILES) return { status, unsteady: [] }
    const again = run([...failed.map(({ file }) => file), "--maxWorkers=1"])
    return again === 0 ? { status: 0, unsteady: failed } : { status: again, unsteady: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Report {
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[]
}

function failedFiles(report: string, root: string): Outcome["unsteady"] {
  return (JSON.parse(report) as Report).testResults
    .filter(({ status }) => status === "failed")
    .map(({ name, assertionResults }) => ({
      file: relative(root, name),
      tests: assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
    }))
}
