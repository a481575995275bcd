import { fstatSync, writeSync } from "node:fs"
import { Socket } from "node:net"

/** Bytes that are taken in at once; more comes in pieces. */
const CHUNK_BYTES = 64 * 1024

/**
 * The agent's end of the relay, without the streams that Node puts around it: for a line in each direction they cost more
 * than carrying it. Falls back to them wherever the plain way does not work.
 */
export function plainInput(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
  const socket = isPipe(0) ? openSocket(onChunk) : undefined
  const input = socket ?? process.stdin
  if (!socket) process.stdin.on("data", onChunk)
  // A pipe closes; a file or /dev/null only ends.
  for (const over of ["end", "close"]) input.once(over, onEnd)
  input.on("error", onEnd)
  input.resume()
}

function openSocket(onChunk: (chunk: Buffer) => void): Socket | undefined {
  try {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    return new Socket({
      fd: 0,
      readable: true,
      writable: false,
      onread: {
        buffer,
        callback(count) {
          // Lines are kept until they are answered, and the buffer is filled again right away.
          onChunk(Buffer.from(buffer.subarray(0, count)))
          return true
        },
      },
    } as ConstructorParameters<typeof Socket>[0])
  } catch {
    return undefined
  }
}

/** Takes lines in order. What the agent does not read at once waits in the stream. */
export function plainOutput(): { write(line: Buffer | string): void } {
  let isWaiting = false
  return {
    write(line) {
      const bytes = typeof line === "string" ? Buffer.from(line) : line
      const rest = isWaiting ? bytes : writeNow(bytes)
      if (rest.length === 0) return
      isWaiting = true
      process.stdout.write(rest, () => {
        isWaiting = process.stdout.writableLength > 0
      })
    },
  }
}

/** What could not be written without waiting. */
function writeNow(bytes: Buffer): Buffer {
  let done = 0
  try {
    while (done < bytes.length) done += writeSync(1, bytes, done)
  } catch (error) {
    // Nobody reads any more; the input ends as well, and with it this process.
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return bytes.subarray(bytes.length)
  }
  return bytes.subarray(done)
}

function isPipe(fd: number): boolean {
  try {
    const kind = fstatSync(fd)
    return kind.isFIFO() || kind.isSocket()
  } catch {
    return false
  }
}
