import { readBytes, writeWhole } from "./files.ts"

/** What setup did, for undo. */
export interface SetupRecord {
  version: 1
  agents: Record<string, AgentRecord>
}

export interface AgentRecord {
  at: string
  files: FileRecord[]
}

export interface FileRecord {
  path: string
  /** The original bytes; null when there was no file. */
  backup: string | null
  /** Our version: while the file has this hash, the backup is its previous state. */
  afterHash: string
  /** False once somebody else changed the file between our edits: the backup would undo that too. */
  restorable: boolean
}

export function readRecord(path: string): SetupRecord {
  try {
    const record = JSON.parse(readBytes(path)?.toString("utf8") ?? "") as SetupRecord
    if (record.version === 1 && typeof record.agents === "object") return record
  } catch {
    // Without a record, undo removes our entries one by one.
  }
  return { version: 1, agents: {} }
}

export function writeRecord(path: string, record: SetupRecord): void {
  writeWhole(path, `${JSON.stringify(record, null, 2)}\n`)
}
