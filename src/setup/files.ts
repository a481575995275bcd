import { createHash } from "node:crypto"
import type { Rules } from "../lib/path-rules.ts"
import { bytesOrNull } from "../lib/untrusted-file.ts"
import { removeFile as remove, replaceFile } from "../lib/untrusted-write.ts"

/** Of agents' own folders, and ours: people link them to where they keep their dotfiles. */
const OWN: Rules = { links: "own" }

/** Null where there is none. */
export function readBytes(path: string, rules = OWN): Buffer | null {
  return bytesOrNull(path, rules)
}

/** Whole or not at all. A link stays a link, and the file behind it keeps its mode; a new one is its owner's only. */
export function writeWhole(path: string, content: Buffer | string, newMode = 0o600, rules = OWN): void {
  replaceFile(path, content, { ...rules, mode: newMode })
}

export function removeFile(path: string, rules = OWN): void {
  remove(path, rules)
}

export function hashOf(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex")
}
