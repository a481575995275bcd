import { type Dirent, readdirSync, truncateSync } from "node:fs"
import { dirname, join } from "node:path"
import { readBytes } from "../lib/untrusted-file.ts"
import { appendText, removeFile, replaceFile } from "../lib/untrusted-write.ts"

/** Files that we write ourselves, beside the databases. */
export interface OwnFiles {
  /** Lines that hold the text are removed: the log, and what hooks left behind. */
  lineFolders: readonly string[]
  /** Only named to the person: copies of agents' settings as they were before setup, and a damaged database. */
  copies: readonly string[]
}

const MAX_BYTES = 256 * 1024 * 1024

/** Takes a text out of our own files, line by line. Returns the files that hold it still, so that a person can decide. */
export function forgetInFiles(word: string, own: OwnFiles, conversationLogs: readonly string[]): string[] {
  const forms = [...new Set([word, JSON.stringify(word).slice(1, -1)])].map((form) => Buffer.from(form))
  const holds = (bytes: Buffer) => forms.some((form) => bytes.includes(form))
  const holdsLine = (line: string) => holds(Buffer.from(line))
  const tried = [
    ...own.lineFolders.flatMap(filesBelow).map((path) => dropLines(path, holdsLine, "inPlace")),
    ...conversationLogs.map((path) => dropLines(path, holdsLine, "replaced")),
  ]
  const copies = own.copies.flatMap(filesBelow).filter((path) => {
    const bytes = bytesOf(path, {})
    return bytes !== undefined && holds(bytes)
  })
  return [...tried.flatMap(({ left }) => left), ...copies]
}

/** Takes the exchanges of one session out of the conversation logs. */
export function forgetInLogs(sessionId: string, conversationLogs: readonly string[]): void {
  const isOfSession = (line: string) => {
    try {
      return (JSON.parse(line) as { session_id?: unknown }).session_id === sessionId
    } catch {
      return false
    }
  }
  for (const path of conversationLogs) dropLines(path, isOfSession, "replaced")
}

/** `<project>/.throughline/conversations/x.jsonl`: whoever wrote the repository may have made links of these folders. */
const inProject = (path: string) => ({ within: dirname(dirname(dirname(path))) })

/** The log is open while it is rewritten, so it must stay the same file; what a repository holds is replaced as a whole. */
function dropLines(path: string, isGone: (line: string) => boolean, how: "inPlace" | "replaced"): { left: string[] } {
  const rules = how === "inPlace" ? {} : inProject(path)
  const bytes = bytesOf(path, rules)
  if (bytes === undefined) return { left: [] }
  const lines = bytes.toString("utf8").split(/(?<=\n)/)
  const kept = lines.filter((line) => !isGone(line))
  if (kept.length === lines.length) return { left: [] }
  try {
    if (how === "inPlace") {
      truncateSync(path)
      appendText(path, kept.join(""))
    } else if (kept.length === 0) removeFile(path, rules)
    else replaceFile(path, kept.join(""), rules)
    return { left: [] }
  } catch {
    return { left: [path] }
  }
}

function filesBelow(place: string): string[] {
  let entries: Dirent[]
  try {
    entries = readdirSync(place, { recursive: true, withFileTypes: true })
  } catch {
    return []
  }
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

function bytesOf(path: string, rules: { within?: string }): Buffer | undefined {
  try {
    return readBytes(path, { maxBytes: MAX_BYTES, ...rules })
  } catch {
    return undefined
  }
}
