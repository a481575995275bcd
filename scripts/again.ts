import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"

/** How one run of vitest is started; reporter arguments are added to it. */
export type Run = (args: string[]) => number

export interface Outcome {
  status: number
  /** One line for each test that failed first and passed alone. */
  secondRuns: string[]
}

/** More than these, and a busy machine is not the reason. */
const MAX_FILES = 4
/** CI prints this file at the end of its run. */
export const SECOND_RUNS_FILE = "second-runs.log"

const VENDOR_FIXTURES = /from "\.\.\/fixtures\/(?:agents|claude-terminal|codex-terminal)\.ts"/

/**
 * Other vendors' programs miss a key or a moment on a busy machine, and we cannot fix them: their journeys may run a
 * second time, alone. Anything else that fails has failed, because a second run would hide our own races.
 */
export function runVendorJourneysTwice(run: Run, args: string[], root: string): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "tl-report-"))
  const log = join(root, SECOND_RUNS_FILE)
  rmSync(log, { force: true })
  try {
    const path = join(folder, "report.json")
    const status = run([...args, "--reporter=default", "--reporter=json", `--outputFile.json=${path}`])
    const failed = status === 0 || !existsSync(path) ? [] : failedFiles(readFileSync(path, "utf8"), root)
    const mayRepeat =
      failed.length > 0 && failed.length <= MAX_FILES && failed.every(({ file }) => drivesVendor(root, file))
    if (!mayRepeat) return { status, secondRuns: [] }
    const again = run([...failed.map(({ file }) => file), "--maxWorkers=1"])
    if (again !== 0) return { status: again, secondRuns: [] }
    const secondRuns = failed.flatMap(({ file, tests }) =>
      (tests.length > 0 ? tests : ["the file itself"]).map((test) => `${file}: ${test}`),
    )
    appendFileSync(log, secondRuns.map((line) => `${line}\n`).join(""))
    return { status: 0, secondRuns }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A journey that starts a vendor's program itself. Contracts and unit tests never count, whatever they start. */
function drivesVendor(root: string, file: string): boolean {
  return file.startsWith("test/journeys/") && VENDOR_FIXTURES.test(readFileSync(join(root, file), "utf8"))
}

interface FailedFile {
  file: string
  tests: string[]
}

interface Report {
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[]
}

function failedFiles(report: string, root: string): FailedFile[] {
  return (JSON.parse(report) as Report).testResults
    .filter(({ status }) => status === "failed")
    .map(({ name, assertionResults }) => ({
      file: relative(root, name),
      tests: assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
    }))
}
