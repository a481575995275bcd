import { readdirSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"

export interface CaseFs {
  /** Device and inode, or undefined where nothing is. */
  identity(path: string): string | undefined
  names(folder: string): string[]
}

const systemFs: CaseFs = {
  identity(path) {
    const found = attempt(() => statSync(path, { throwIfNoEntry: false, bigint: true }))
    return found && `${found.dev}:${found.ino}`
  },
  names: (folder) => attempt(() => readdirSync(folder)) ?? [],
}

/** A folder that we may not look into says nothing. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

/** The path as the folder itself spells it. Only where the file system ignores case does anything change. */
export function trueCase(path: string, fs: CaseFs = systemFs): string {
  const swapped = swapCase(path)
  const identity = fs.identity(path)
  if (swapped === path || identity === undefined || fs.identity(swapped) !== identity) return path
  const parent = dirname(path)
  if (parent === path) return path
  const spelled = trueCase(parent, fs)
  const name = basename(path)
  const names = fs.names(spelled)
  const exact = names.includes(name) ? name : names.find((other) => fold(other) === fold(name))
  return join(spelled, exact ?? name)
}

const fold = (name: string) => name.normalize("NFC").toLowerCase()

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("")
}
