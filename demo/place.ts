import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Failure } from "../src/domain/failure.ts"

/** Where the demo lies: a folder of its own, never the user's, that can be thrown away as a whole. */
export interface DemoPlace {
  dir: string
  /** Throughline's home. */
  homeDir: string
  /** What the agents take for the user's home: their files and the projects. */
  userDir: string
}

export function demoPlace(): DemoPlace {
  const dir = join(realpathSync(tmpdir()), `throughline-demo-${process.getuid?.() ?? 0}`)
  return { dir, homeDir: join(dir, "home"), userDir: join(dir, "you") }
}

const MARK = "demo.json"

/**
 * False where there is none. Everybody may write to the folder for temporary files: another user can make the place first,
 * and link `home` to the person's own data directory. Throws before anything in it is read, stopped or used.
 */
export function isPlaceThere({ dir }: Pick<DemoPlace, "dir">): boolean {
  const found = lstatSync(dir, { throwIfNoEntry: false })
  if (!found) return false
  const isOurs = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0)
  if (found.isDirectory() && isOurs) return true
  throw new Failure(
    "home_unsafe",
    `${dir} is not a folder of yours alone: remove it, or set TMPDIR to a folder of your own for the demo`,
    { dir },
  )
}

/** The version that made it; undefined where there is none, or one that was not finished. */
export function madeBy({ dir }: DemoPlace): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(dir, MARK), "utf8")) as { version: string }).version
  } catch {
    return undefined
  }
}

export function markMade({ dir }: DemoPlace, version: string): void {
  writeFileSync(join(dir, MARK), JSON.stringify({ version, madeAt: new Date().toISOString() }))
}

export function clearPlace({ dir, userDir }: DemoPlace): void {
  removePlace({ dir })
  mkdirSync(dir, { mode: 0o700 })
  mkdirSync(userDir, { mode: 0o700 })
}

export function removePlace({ dir }: Pick<DemoPlace, "dir">): void {
  if (isPlaceThere({ dir })) rmSync(dir, { recursive: true, force: true })
}
