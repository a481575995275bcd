import type { Readable } from "node:stream"

const NEWLINE = 10

/** Calls back with each whole line, its newline included, as the bytes that arrived. */
export function lines(stream: Readable, onLine: (line: Buffer) => void): void {
  let parts: Buffer[] = []
  stream.on("data", (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end + 1))
      onLine(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
      parts = []
      start = end + 1
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
  })
  // It may have been paused on its way here.
  stream.resume()
}
