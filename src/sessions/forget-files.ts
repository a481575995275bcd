import { type Dirent, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { readBytes } from "../lib/untrusted-file.ts"
import { removeFile, replaceFile } from "../lib/untrusted-write.ts"

/** Files that we write ourselves, beside the databases. */
export interface OwnFiles {
  /** Lines that hold the text are removed: the log, and what hooks left behind. */
  lineFolders: readonly string[]
  /** Only named to the person: copies of agents' settings as they were before setup, and a damaged database. */
  copies: readonly string[]
  /** Another file has this name now: whoever has the old one open writes into what nobody reads. */
  onReplaced?(path: string): void
}

const MAX_BYTES = 256 * 1024 * 1024

/** Takes a text out of our own files, line by line. Returns the files that hold it still, so that a person can decide. */
export function forgetInFiles(word: string, own: OwnFiles, conversationLogs: readonly string[]): string[] {
  const forms = [...new Set([word, JSON.stringify(word).slice(1, -1)])].map((form) => Buffer.from(form))
  const holds = (bytes: Buffer) => forms.some((form) => bytes.includes(form))
  const holdsLine = (line: string) => holds(Buffer.from(line))
  const tried = [
    ...own.lineFolders.flatMap((folder) =>
      filesBelow(folder).map((path) => dropLines(path, holdsLine, { within: folder, onReplaced: own.onReplaced })),
    ),
    ...conversationLogs.map((path) => dropLines(path, holdsLine, inProject(path))),
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
  for (const path of conversationLogs) dropLines(path, isOfSession, inProject(path))
}

/** `<project>/.throughline/conversations/x.jsonl`: whoever wrote the repository may have made links of these folders. */
const inProject = (path: string) => ({ within: dirname(dirname(dirname(path))), removeEmpty: true })

interface Dropping {
  within: string
  removeEmpty?: boolean
  onReplaced?: OwnFiles["onReplaced"]
}

/** A process killed at any moment leaves the file as it was, or as it is to be. */
function dropLines(
  path: string,
  isGone: (line: string) => boolean,
  { within, removeEmpty = false, onReplaced }: Dropping,
): { left: string[] } {
  const bytes = bytesOf(path, { within })
  if (bytes === undefined) return { left: [] }
  const lines = bytes.toString("utf8").split(/(?<=\n)/)
  const kept = lines.filter((line) => !isGone(line))
  if (kept.length === lines.length) return { left: [] }
  try {
    if (kept.length === 0 && removeEmpty) removeFile(path, { within })
    else {
      replaceFile(path, kept.join(""), { within })
      onReplaced?.(path)
    }
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
