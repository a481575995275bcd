// Preloaded into every process and thread that scripts/house-paths.ts starts: records which functions of the built
// program (HOUSE_PROGRAM, as a URL) are called. HOUSE_COVERAGE is a folder; its file `window` names what is being recorded,
// and each new name makes every isolate write what was called under the one before.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { Session } from "node:inspector"
import { join } from "node:path"
import { isMainThread, threadId } from "node:worker_threads"

export interface Called {
  /** `url:startOffset` of each function that was called. */
  calls: string[]
  /** The window in which the process was started. */
  startedIn: string
  isMainThread: boolean
}

const CHECK_MS = 25
const { HOUSE_COVERAGE: dir, HOUSE_PROGRAM: program } = process.env
if (dir !== undefined && program !== undefined && existsSync(dir)) count(dir, program)

function count(dir: string, program: string): void {
  const id = `${process.pid}.${threadId}`
  const alive = join(dir, `alive.${id}`)
  /** Undefined when the examination is over; an agent may outlive it. */
  const current = () => {
    try {
      return readFileSync(join(dir, "window"), "utf8")
    } catch {
      return undefined
    }
  }
  const session = new Session()
  session.connect()
  session.post("Profiler.enable")
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  const startedIn = current() ?? ""
  let window = startedIn
  writeFileSync(alive, "")

  /** V8 counts from one call of it to the next. */
  const take = () =>
    session.post("Profiler.takePreciseCoverage", (error, taken) => {
      if (error) throw error
      const calls: string[] = []
      for (const { url, functions } of taken.result) {
        if (!url.startsWith(program)) continue
        for (const { functionName, ranges } of functions) {
          const { count, startOffset } = ranges[0]!
          const isWholeScript = functionName === "" && startOffset === 0
          if (count > 0 && !isWholeScript) calls.push(`${url}:${startOffset}`)
        }
      }
      const called: Called = { calls, startedIn, isMainThread }
      writeFileSync(join(dir, `${window}.${id}.json`), JSON.stringify(called))
    })
  setInterval(() => {
    const now = current()
    if (now === undefined || now === window) return
    take()
    window = now
  }, CHECK_MS).unref()
  process.on("exit", () => {
    if (current() === undefined) return
    take()
    rmSync(alive, { force: true })
  })
}
