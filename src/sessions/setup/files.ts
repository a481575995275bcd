import { createHash, randomUUID } from "node:crypto"
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

/** Null where there is none. */
export function readBytes(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw error
  }
}

/** Whole or not at all. A link stays a link, and the file behind it keeps its mode; a new one is its owner's only. */
export function writeWhole(path: string, content: Buffer | string, newMode = 0o600): void {
  const target = behindLinks(path)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}`)
  const file = openSync(draft, "wx", 0o600)
  try {
    writeSync(file, typeof content === "string" ? Buffer.from(content) : content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    chmodSync(draft, modeOf(target) ?? newMode)
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

export function removeFile(path: string): void {
  rmSync(behindLinks(path), { force: true })
}

export function hashOf(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex")
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}

/** Also of a link whose file is gone. */
function behindLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
    return isLink ? behindLinks(resolve(dirname(path), readlinkSync(path))) : path
  }
}
