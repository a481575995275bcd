import type { Readable } from "node:stream"

const NEWLINE = 10

/** Calls back with each whole line, its newline included, as the bytes that arrived. A longer one ends the stream. */
export function lines(
  stream: Readable,
  onLine: (line: Buffer) => void,
  mostBytes: number = Number.POSITIVE_INFINITY,
): void {
  const take = lineTaker(onLine)
  stream.on("data", (chunk: Buffer) => {
    if (take(chunk) > mostBytes) stream.destroy()
  })
  // It may arrive paused.
  stream.resume()
}

/** The same for pushed bytes; returns how many wait for the end of their line. */
export function lineTaker(onLine: (line: Buffer) => void): (chunk: Buffer) => number {
  let parts: Buffer[] = []
  let waiting = 0
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end + 1)
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last])
      parts = []
      waiting = 0
      start = end + 1
      onLine(line)
    }
    if (start === chunk.length) return 0
    parts.push(chunk.subarray(start))
    waiting += chunk.length - start
    return waiting
  }
}
