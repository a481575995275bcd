import type { Readable } from "node:stream"

const NEWLINE = 10

/** Calls back with each whole line, its newline included, as the bytes that arrived. A longer one ends the stream. */
export function lines(
  stream: Readable,
  onLine: (line: Buffer) => void,
  mostBytes: number = Number.POSITIVE_INFINITY,
): void {
  let parts: Buffer[] = []
  let waiting = 0
  stream.on("data", (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end + 1))
      onLine(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
      parts = []
      waiting = 0
      start = end + 1
    }
    if (start === chunk.length) return
    parts.push(chunk.subarray(start))
    waiting += chunk.length - start
    if (waiting > mostBytes) stream.destroy()
  })
  // It may have been paused on its way here.
  stream.resume()
}
