import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { ask, type TestHome } from "../../test/fixtures/daemon.ts"

/** What can be asked and measured of a daemon that runs. */
export interface Progress {
  importing: boolean
  sourcesDone: number
  sourcesLeft: number
  bytesDone: number
  bytesLeft: number
  turns: number
}

/** As the owner at a terminal. */
const headers = { "throughline-caller": encodeURIComponent(JSON.stringify({ surface: "cli" })) }

export async function call<T>(home: TestHome, operation: string, input: object = {}): Promise<T> {
  const request = { path: `/api/${operation}`, body: JSON.stringify(input), headers, socket: true }
  const { status, body } = await ask(home, request)
  if (status !== 200) throw new Error(`${operation}: ${body}`)
  return JSON.parse(body) as T
}

export async function progressOf(home: TestHome): Promise<Progress> {
  return (await call<{ progress: Progress }>(home, "sources")).progress
}

/** Resolves when everything that lay there is read. */
export async function imported(home: TestHome, onProgress: (progress: Progress) => void = () => {}): Promise<void> {
  for (;;) {
    const progress = await progressOf(home)
    onProgress(progress)
    if (!progress.importing && progress.sourcesLeft === 0) return
    await sleep(200)
  }
}

export function peakRssMb(pid: number): number {
  return statusKb(pid, "VmHWM") / 1000
}

export function rssMb(pid: number): number {
  return statusKb(pid, "VmRSS") / 1000
}

/** User and system time of the process, children aside. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  const ticksPerSecond = 100
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
}

function statusKb(pid: number, field: string): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1.024
}
