import { Failure } from "../../../domain/failure.ts"
import { isRefusal, type Rules } from "../../../lib/path-rules.ts"
import { bytesOrNull } from "../../../lib/untrusted-file.ts"

/** The whole text, or null without a file. Refuses anything but UTF-8, which could not be written back unchanged. */
export function readText(path: string, rules: Rules = { links: "own" }): string | null {
  let bytes: Buffer | null
  try {
    bytes = bytesOrNull(path, rules)
  } catch (error) {
    if (isRefusal(error)) throw error
    throw new Failure("setup_file_malformed", `${path} cannot be read: ${(error as Error).message}`, { path })
  }
  if (bytes === null) return null
  const text = bytes.toString("utf8")
  if (!Buffer.from(text, "utf8").equals(bytes)) throw malformed(path, "", 0, "it is not UTF-8")
  return text
}

/** Names the file, the line and the column. */
export function malformed(path: string, text: string, offset: number, why: string): Failure {
  const before = text.slice(0, offset).split("\n")
  return malformedAt(path, before.length, before.at(-1)!.length + 1, why)
}

export function malformedAt(path: string, line: number, column: number, why: string): Failure {
  return new Failure("setup_file_malformed", `${path}:${line}:${column}: ${why}`, { path, line, column })
}

/** A word of a shell command. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
