import { createHash } from "node:crypto"
import type { Rules } from "../lib/path-rules.ts"
import { bytesOrNull } from "../lib/untrusted-file.ts"
import { removeFile as remove, replaceFile } from "../lib/untrusted-write.ts"

/** For agents' own folders, and ours: people link them to their dotfiles. */
const OWN: Rules = { links: "own" }

/** Null without a file. */
export function readBytes(path: string, rules = OWN): Buffer | null {
  return bytesOrNull(path, rules)
}

/** Atomic. A link stays a link, and its file keeps its mode; a new file is readable by its owner only. */
export function writeWhole(path: string, content: Buffer | string, newMode = 0o600, rules = OWN): void {
  replaceFile(path, content, { ...rules, mode: newMode })
}

export function removeFile(path: string, rules = OWN): void {
  remove(path, rules)
}

export function hashOf(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex")
}
