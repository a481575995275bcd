import { type Dirent, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { jsonObject } from "../lib/json-object.ts"
import { readBytes } from "../lib/untrusted-file.ts"
import { removeFile, replaceFile } from "../lib/untrusted-write.ts"

/** Files that we write ourselves, beside the databases. */
export interface OwnFiles {
  /** Folders of our log and of the spool; lines that contain the text are removed. */
  lineFolders: readonly string[]
  /** Only reported, never changed: backups of agents' settings, and a damaged database. */
  copies: readonly string[]
  /** The file was replaced: a process that has the old one open must reopen it. */
  onReplaced?(path: string): void
}

const MAX_BYTES = 256 * 1024 * 1024

/** Removes a text from our own files, line by line. Returns the files that still contain it. */
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

/** Removes the exchanges of one session from the conversation logs. */
export function forgetInLogs(sessionId: string, conversationLogs: readonly string[]): void {
  const isOfSession = (line: string) => jsonObject(line)?.session_id === sessionId
  for (const path of conversationLogs) dropLines(path, isOfSession, inProject(path))
}

/** `<project>/.throughline/conversations/x.jsonl`: a repository may ship these folders as symlinks. */
const inProject = (path: string) => ({ within: dirname(dirname(dirname(path))), removeEmpty: true })

interface Dropping {
  within: string
  removeEmpty?: boolean
  onReplaced?: OwnFiles["onReplaced"]
}

/** Atomic: a process killed at any moment leaves either the old or the new file. */
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
